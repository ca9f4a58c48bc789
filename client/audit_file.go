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
	v := NewVerification(checkpoints)
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
	e, err := readEvent(line)
	if err != nil {
		v.report.Problem = fmt.Sprintf("line %d %v", n, err)
		return false
	}
	if !v.VerifyNext(e) {
		v.report.Problem = fmt.Sprintf("%s (line %d)", v.report.Problem, n)
		return false
	}
	return true
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
	decoder := json.NewDecoder(bytes.NewReader(line))
	// No hash covers an unknown field, so nothing proves what it says.
	decoder.DisallowUnknownFields()
	var e fermata.Event
	err := decoder.Decode(&e)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("is cut off within an event")
	case err != nil:
		return nil, fmt.Errorf("is no event: %w", err)
	case e.Seq < 1 || e.Hash == "":
		return nil, errors.New("is no event: it has no number or no hash")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one event")
	}
	return &e, nil
}
