package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// maxEventLine is the longest line of an export, in bytes. No event is that long.
const maxEventLine = 8 << 20

// VerifyExport checks the chain of events in an export. The export may begin and end with any event. In between, no
// event may be missing, and the events must agree with the checkpoints. The problem in the report names the line.
func VerifyExport(r io.Reader, checkpoints ...fermata.SignedCheckpoint) AuditReport {
	return NewVerification(checkpoints).VerifyExport(r)
}

// VerifyExport is the function [VerifyExport] for a verification that has begun with no event.
func (v *Verification) VerifyExport(r io.Reader) AuditReport {
	v.beginsAnywhere = true
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			v.report.Problem = fmt.Sprintf("line %d %v", n, err)
			return v.Report()
		}
		if !v.verifyLine(n, line) || err != nil {
			return v.Report()
		}
	}
}

// verifyLine verifies the event in a line, and reports whether the chain is whole up to it. It skips a blank line.
func (v *Verification) verifyLine(n int, line []byte) bool {
	if len(bytes.TrimSpace(line)) == 0 {
		return true
	}
	if isWhole, err := v.verifyDocument(line); err != nil {
		v.report.Problem = fmt.Sprintf("line %d %v", n, err)
		return false
	} else if !isWhole {
		v.report.Problem = fmt.Sprintf("%s (line %d)", v.report.Problem, n)
		return false
	}
	return true
}

// verifyDocument verifies an event or a trimmed range.
func (v *Verification) verifyDocument(line []byte) (isWhole bool, err error) {
	if !isTrimmedRange(line) {
		e, err := readEvent(line)
		return err == nil && v.VerifyNext(e), err
	}
	var document struct {
		TrimmedRange fermata.SignedTrimmedRange `json:"trimmed_range"`
	}
	err = readDocument(line, &document, "a trimmed range", "no trimmed range")
	return err == nil && v.EnterRange(document.TrimmedRange), err
}

// isTrimmedRange reports whether a line of an export is a trimmed range and no event.
func isTrimmedRange(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte(`{"trimmed_range":`))
}

// readLine returns the next line. It returns the last line together with io.EOF.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxEventLine {
			return nil, fmt.Errorf("has more than %d MiB, which no event has", maxEventLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, lineError(err)
		}
	}
}

// lineError returns the error of a line that cannot be read. It leaves nil and io.EOF as they are.
func lineError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// readEvent reads one line of an export.
func readEvent(line []byte) (*fermata.Event, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("is not valid UTF-8")
	}
	if start := bytes.TrimSpace(line); start[0] != '{' {
		return nil, errors.New("is no event: an export holds one JSON object a line")
	}
	var e fermata.Event
	if err := readDocument(line, &e, "an event", "no event"); err != nil {
		return nil, err
	}
	if e.Seq < 1 || e.Hash == "" {
		return nil, errors.New("is no event: it has no number or no hash")
	}
	return &e, nil
}

// readDocument reads the only JSON document of a line. something and nothing name what it should be in an error, such as "an
// event" and "no event".
func readDocument(line []byte, into any, something, nothing string) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	// No hash covers an unknown field, so nothing proves what it says.
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("is cut off within " + something)
	case err != nil:
		return fmt.Errorf("is %s: %w", nothing, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("holds more than one document")
	}
	return nil
}
