package workflow

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/fermata-hq/fermata"
)

// What the spec of a command's task asks its worker to put into the details of the run: what the command printed, and
// with reportJSON also the JSON in it, up to the maximum length of a result.
const (
	reportOutput = "output"
	reportJSON   = "json"
)

// printedJSON is the field of the details with the JSON that a command printed.
const printedJSON = "json"

// commandReport is what the details of a command's run say.
type commandReport struct {
	// output is what the command printed. It is nil if the details do not say so.
	output *commandOutput
	// result is what the output of the step is made of: the details of the file with which the command reported its
	// result, else the exit code and the output.
	result json.RawMessage
}

// parseCommandReport reads the details of a command's run. A worker of an older version, or a run that a program
// finished by the API, may give details of any form.
func parseCommandReport(details json.RawMessage) commandReport {
	var fields map[string]json.RawMessage
	printed := &commandOutput{}
	if json.Unmarshal(details, &fields) != nil || json.Unmarshal(details, printed) != nil || printed.ExitCode == nil {
		return commandReport{result: details}
	}
	if *printed.ExitCode < 0 {
		printed.ExitCode = nil // a signal ended it
	}
	r := commandReport{output: printed, result: details}
	own, isFile := fields["details"]
	_, hasErrors := fields["stderr"]
	switch {
	case isFile && hasErrors && bytes.Equal(own, []byte("null")):
		r.result = nil
	case isFile && hasErrors:
		r.result = own
	case hasErrors:
		delete(fields, "stderr")
		r.result = encodeJSON(fields)
	}
	return r
}

// parseCommandOutput returns the output of a step from the details and the summary of its command's run, as [ParseOutput] does.
func parseCommandOutput(schema, details json.RawMessage, summary string) (any, error) {
	return ParseOutput(schema, parseCommandReport(details).result, summary)
}

// withCommandOutput adds what the command of a task printed in its last run to the failure of a step. It adds nothing if
// the task ran no command.
func withCommandOutput(err error, t *fermata.Task, run *fermata.Run) error {
	if err == nil || t.Runner != fermata.RunnerShell || run == nil {
		return err
	}
	var failure *stepError
	if errors.As(err, &failure) {
		failure.output = parseCommandReport(run.Details).output
	}
	return err
}
