package terminal

import (
	"bufio"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// DefaultHeight is the number of lines of a terminal that does not report its size.
const DefaultHeight = 24

// defaultWidth is the number of columns of such a terminal.
const defaultWidth = 80

// Console is the input and the output of one run of the program, and the properties of its terminal.
type Console struct {
	// In is standard input.
	In io.Reader
	// Lines reads In by lines. After its first read, In alone misses what Lines has buffered.
	Lines *bufio.Reader
	// Out is standard output, for data. Err is standard error, for messages to the person.
	Out, Err io.Writer
	// InTerm, OutTerm and ErrTerm report whether each stream is a terminal that a person uses.
	InTerm, OutTerm, ErrTerm bool
	// Width is the number of columns of the terminal. Color reports whether the person wants colours.
	Width int
	Color bool
	// NeverAsk forbids questions at the terminal.
	NeverAsk bool
	// Now returns the present time.
	Now func() time.Time
}

// New returns the console of the three streams. A stream may be nil if the program does not use it.
func New(stdin io.Reader, stdout, stderr io.Writer) Console {
	c := Console{
		In: stdin, Lines: bufio.NewReader(stdin), Out: stdout, Err: stderr, Width: defaultWidth, Now: time.Now,
	}
	_, c.InTerm = fileOf(stdin)
	_, c.ErrTerm = fileOf(stderr)
	file, ok := fileOf(stdout)
	c.OutTerm = ok
	if !ok {
		file, ok = fileOf(stderr)
	}
	if ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			c.Width = w
		}
	}
	c.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return c
}

// UpdateSize reads the size of the terminal again and returns its height.
func (c *Console) UpdateSize() int {
	if file, ok := fileOf(c.Out); ok {
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			c.Width = w
			return h
		}
	}
	return DefaultHeight
}

// fileOf returns the file behind a stream if it is a terminal.
func fileOf(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	return file, true
}

// IsInteractive reports whether forms can ask a person.
func (c *Console) IsInteractive() bool {
	return c.InTerm && c.ErrTerm && !c.NeverAsk
}
