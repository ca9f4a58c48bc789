package cli

import (
	"io"
	"os"
	"sync/atomic"
)

// lend gives a program that fills the screen the input to read keys from,
// until back is called. A program may end while one of its readers still
// waits for a key; that reader must not take the key from who reads next: the
// next form, an editor, the shell.
func (s *session) lend() (input io.Reader, back func()) {
	file, ok := terminal(s.stdin)
	if !ok {
		return s.stdin, func() {}
	}
	l := &lent{File: file}
	return l, func() { l.over.Store(true) }
}

// lent is a terminal that is lent to one program.
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
