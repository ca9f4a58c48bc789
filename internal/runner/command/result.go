package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// Limits of results.
const (
	maxSummary = 4096
	// maxResult is the maximum size of a result file, in bytes.
	maxResult = 1 << 20
	// maxDetails is the maximum size of details with the output of a program, in bytes: the body of a request may have
	// 1 MiB. If they are longer, the output in them is cut to shortOutput, and beside JSON of fermata.MaxPrintedJSON to
	// shortestOutput.
	maxDetails     = 1<<20 - 64<<10
	shortOutput    = fermata.MaxStepErrorOutput
	shortestOutput = 1 << 10
)

// ending is how a program ended, and what it printed.
type ending struct {
	cmd       commandLine
	state     *os.ProcessState
	out, errs *scanner
}

// outcome returns the result of a program that ended: from the result file, else from the end of its output, else from
// its exit code.
func (e ending) outcome(resultFile string) fermata.Finish {
	data, err := readResult(resultFile)
	switch {
	case err != nil:
		return e.withOutput(failure("The result file %s.", err))
	case len(data) > 0:
		return e.withOutput(parseResult(data))
	}
	return e.printedOutcome()
}

// printedOutcome returns the result of a program that wrote no result file. The end of a plain output is not read. A
// program whose exit code is not 0 has failed, whatever it printed.
func (e ending) printedOutcome() fermata.Finish {
	block := ""
	if !e.cmd.isPlain {
		if block = agent.LastBlock(e.out.last, e.out.outputEnd(maxOutput)); !agent.LooksLikeReport(block) {
			block = ""
		}
	}
	if block != "" {
		if fin := parseResult([]byte(block)); e.state.Success() || fin.Result == fermata.ResultFailed {
			return fin
		}
	}
	if e.state.Success() {
		return fermata.Finish{Summary: fermata.Truncate(e.out.last, maxSummary), Details: e.successDetails()}
	}
	fin := failure("%s", agent.ProgramFailureText(e.state.String(), e.out.tail, e.errs.tail))
	fin.Details = encodeDetails(e.failureDetails())
	return fin
}

// withOutput puts what the program printed into the details of the result of a file, beside the details of the file, if
// the task asks for it.
func (e ending) withOutput(fin fermata.Finish) fermata.Finish {
	if e.cmd.report == "" {
		return fin
	}
	details := e.failureDetails()
	details["details"] = fin.Details
	if encoded := encodeDetails(details); len(encoded) <= maxDetails {
		fin.Details = encoded
		return fin
	}
	details["output"], details["stderr"] = e.out.outputEnd(shortOutput), e.errs.outputEnd(shortOutput)
	fin.Details = encodeDetails(details)
	return fin
}

// successDetails returns the details of a program that reported no result and ended well.
func (e ending) successDetails() json.RawMessage {
	if e.cmd.report == "" {
		return encodeDetails(e.printedDetails())
	}
	details := e.failureDetails()
	if e.cmd.report != reportJSON || details["left_out"] == nil {
		return encodeDetails(details) // the JSON, if there is any, is in the output
	}
	if found := e.printedJSON(); found != nil {
		withJSON := maps.Clone(details)
		withJSON["json"] = found
		for _, size := range []int{shortOutput, shortestOutput} {
			withJSON["output"], withJSON["stderr"] = e.out.outputEnd(size), e.errs.outputEnd(size)
			withJSON["left_out"] = e.out.written - len(e.out.outputEnd(size))
			if encoded := encodeDetails(withJSON); len(encoded) <= maxDetails {
				return encoded
			}
		}
	}
	return encodeDetails(details)
}

// printedJSON returns the likeliest JSON value in the kept output, or nil if there is none or if it is too long.
func (e ending) printedJSON() json.RawMessage {
	for _, text := range agent.JSONTexts(e.out.outputEnd(maxJSONOutput)) {
		if text = strings.TrimSpace(text); json.Valid([]byte(text)) {
			if len(text) > fermata.MaxPrintedJSON {
				return nil
			}
			return json.RawMessage(text)
		}
	}
	return nil
}

// printedDetails returns the exit code of the program and the end of its output.
func (e ending) printedDetails() map[string]any {
	printed := e.out.outputEnd(maxOutput)
	details := map[string]any{"exit_code": e.state.ExitCode(), "output": printed}
	if lost := e.out.written - len(printed); lost > 0 {
		details["left_out"] = lost
	}
	return details
}

// failureDetails returns printedDetails with the end of the standard error.
func (e ending) failureDetails() map[string]any {
	details := e.printedDetails()
	details["stderr"] = e.errs.outputEnd(maxOutput)
	return details
}

func encodeDetails(details map[string]any) json.RawMessage {
	raw, err := fermata.ExactJSON(details)
	if err != nil {
		return nil // numbers, texts and JSON always have a JSON form
	}
	return raw
}

// readResult returns the contents of the result file, or nothing if there is none. The text of an error continues a
// sentence that begins with "The result file".
func readResult(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	case info.Size() > maxResult:
		return nil, fmt.Errorf("has %d bytes; it may have at most %d", info.Size(), maxResult)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if data = bytes.TrimSpace(data); len(data) == 0 {
		return nil, errors.New("is empty: write one JSON object, or make no file")
	}
	return data, nil
}

// parseResult reads a result strictly. An invalid result becomes a failure that gives the reason.
func parseResult(data []byte) fermata.Finish {
	fin, err := agent.ReadReport(data)
	if err != nil {
		return failure("The agent's result is not valid: %s", err)
	}
	return fin
}

func failure(format string, args ...any) fermata.Finish {
	return fermata.Finish{
		Result:  fermata.ResultFailed,
		Summary: fermata.Truncate(strings.TrimSpace(validText(fmt.Sprintf(format, args...))), maxSummary),
	}
}
