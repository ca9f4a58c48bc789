package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
)

// outcome returns the result of a program that ended: from the result file, else from the end of its output, else from
// its exit code. The end of a plain output is not read.
func (p *runFiles) outcome(state *os.ProcessState, out, errs *scanner, isPlain bool) fermata.Finish {
	data, err := readResult(p.result)
	if err == nil && len(data) == 0 && !isPlain {
		if block := agent.LastBlock(out.last, out.outputEnd()); agent.LooksLikeReport(block) {
			data = []byte(block)
		}
	}
	switch {
	case err != nil:
		return failure("The result file %s.", err)
	case len(data) > 0:
		return parseResult(data)
	case state.Success():
		return fermata.Finish{Summary: agent.Clip(out.last, maxSummary), Details: encodeDetails(printedDetails(state, out))}
	default:
		fin := failure("%s", agent.ProgramFailureText(state.String(), out.tail, errs.tail))
		details := printedDetails(state, out)
		details["stderr"] = errs.outputEnd()
		fin.Details = encodeDetails(details)
		return fin
	}
}

// printedDetails returns the details of a program that reported no result: how it ended, and the end of its output.
func printedDetails(state *os.ProcessState, out *scanner) map[string]any {
	details := map[string]any{"exit_code": state.ExitCode(), "output": out.outputEnd()}
	if lost := out.droppedBytes(); lost > 0 {
		details["left_out"] = lost
	}
	return details
}

func encodeDetails(details map[string]any) json.RawMessage {
	raw, err := json.Marshal(details)
	if err != nil {
		return nil // numbers and strings always have a JSON form
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
		Summary: agent.Clip(strings.TrimSpace(validText(fmt.Sprintf(format, args...))), maxSummary),
	}
}
