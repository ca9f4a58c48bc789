package cli

import (
	"bufio"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// defaultWidth and defaultHeight are the size of a terminal that does not report its own.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// console is the input and the output of one run of the program, and the properties of its terminal.
type console struct {
	stdin io.Reader
	// lines reads stdin by lines. After the first read of lines, stdin alone misses what is buffered.
	lines       *bufio.Reader
	out, errOut io.Writer
	// inTerm, outTerm and errTerm report whether each stream is a terminal that a person uses.
	inTerm, outTerm, errTerm bool
	// width is the number of columns of the terminal. color reports whether the person wants colours.
	width int
	color bool
	// neverAsk forbids questions at the terminal.
	neverAsk bool
	now      func() time.Time
}

// newConsole returns the console of the three streams. A stream may be nil if the program does not use it.
func newConsole(stdin io.Reader, stdout, stderr io.Writer) console {
	c := console{
		stdin: stdin, lines: bufio.NewReader(stdin), out: stdout, errOut: stderr, width: defaultWidth, now: time.Now,
	}
	_, c.inTerm = terminal(stdin)
	_, c.errTerm = terminal(stderr)
	file, ok := terminal(stdout)
	c.outTerm = ok
	if !ok {
		file, ok = terminal(stderr)
	}
	if ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			c.width = w
		}
	}
	c.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return c
}

// updateSize reads the size of the terminal again and returns its height.
func (c *console) updateSize() int {
	if file, ok := terminal(c.out); ok {
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			c.width = w
			return h
		}
	}
	return defaultHeight
}

// terminal returns the file behind a stream if it is a terminal.
func terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	return file, true
}

// isInteractive reports whether forms can ask a person.
func (c *console) isInteractive() bool {
	return c.inTerm && c.errTerm && !c.neverAsk
}
