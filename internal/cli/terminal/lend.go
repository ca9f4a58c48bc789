package terminal

import (
	"io"
	"os"
	"sync/atomic"
)

// LendInput returns an input for a full-screen program, which is valid until
// release is called. A program may end while one of its readers still waits for a key.
// That reader must not take the key from the next reader, which may be a form,
// an editor or the shell.
func (c *Console) LendInput() (input io.Reader, release func()) {
	file, ok := fileOf(c.In)
	if !ok {
		return c.In, func() {}
	}
	l := &lentInput{File: file}
	return l, func() { l.released.Store(true) }
}

// lentInput is a terminal that one program borrows.
type lentInput struct {
	*os.File
	released atomic.Bool
}

func (l *lentInput) Read(p []byte) (int, error) {
	if l.released.Load() {
		return 0, io.EOF
	}
	return l.File.Read(p)
}
