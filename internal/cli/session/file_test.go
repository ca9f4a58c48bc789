package session

import (
	"io"
	"strings"
	"testing"
)

// The byte order mark of some editors does not belong to the text.
func TestTheMarkAtTheBeginningOfAFileIsLeftOut(t *testing.T) {
	t.Parallel()
	s := New(strings.NewReader("\ufeffhello"), io.Discard, io.Discard, "")
	if data, err := s.ReadFile("--body", "-", 100); err != nil || string(data) != "hello" {
		t.Errorf("read %q, %v", data, err)
	}
	s = New(strings.NewReader("\ufeff"), io.Discard, io.Discard, "")
	if _, err := s.ReadFile("--body", "-", 100); err == nil || !strings.Contains(err.Error(), "standard input is empty") {
		t.Errorf("a text of the mark alone: %v", err)
	}
}
