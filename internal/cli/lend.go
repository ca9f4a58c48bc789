package cli

import (
	"io"
	"os"
	"sync/atomic"
)

// lend returns an input for a full-screen program, which is valid until back is
// called. A program may end while one of its readers still waits for a key.
// That reader must not take the key from the next reader, which may be a form,
// an editor or the shell.
func (s *session) lend() (input io.Reader, back func()) {
	file, ok := terminal(s.stdin)
	if !ok {
		return s.stdin, func() {}
	}
	l := &lent{File: file}
	return l, func() { l.over.Store(true) }
}

// lent is a terminal that one program borrows.
type lent struct {
	*os.File
	over atomic.Bool
}

func (l *lent) Read(p []byte) (int, error) {
	if l.over.Load() {
		return 0, io.EOF
	}
	return l.File.Read(p)
}
