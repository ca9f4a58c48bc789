package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// ReadSecret reads a line without showing it.
func (c *Console) ReadSecret(ctx context.Context, prompt string) (string, error) {
	file, ok := fileOf(c.In)
	if !ok {
		return c.PromptLine(ctx, prompt)
	}
	_, _ = io.WriteString(c.Err, prompt+": ")
	defer io.WriteString(c.Err, "\n") //nolint:errcheck // a line end on a terminal
	data, err := term.ReadPassword(int(file.Fd()))
	return string(data), err
}

// PromptLine writes a prompt to standard error and reads a line of standard input. At the end of the input it returns
// io.EOF. If the input is no terminal, nobody's Enter ends the line of the prompt, so PromptLine ends it.
func (c *Console) PromptLine(ctx context.Context, prompt string) (string, error) {
	if c.NeverAsk {
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "%s: nothing may be asked at the terminal (--no-input)", prompt)
	}
	separator := " "
	if !c.InTerm {
		separator = "\n"
	}
	_, _ = io.WriteString(c.Err, prompt+":"+separator)
	return c.NextLine(ctx)
}

// NextLine reads a line of standard input, or returns io.EOF at its end. It refuses a line that is not UTF-8, because
// JSON would carry other characters.
func (c *Console) NextLine(ctx context.Context) (string, error) {
	type reading struct {
		line string
		err  error
	}
	read := make(chan reading, 1)
	go func() {
		line, err := c.Lines.ReadString('\n')
		if line != "" && errors.Is(err, io.EOF) {
			err = nil
		}
		read <- reading{strings.TrimRight(line, "\r\n"), err}
	}()
	select {
	case <-ctx.Done():
		// The goroutine ends with the program, because a read of a terminal cannot be cancelled.
		return "", context.Cause(ctx)
	case r := <-read:
		if r.err == nil && !utf8.ValidString(r.line) {
			return "", fermata.Errorf(fermata.CodeInvalidRequest, "the line is not valid UTF-8, nothing was sent")
		}
		return r.line, r.err
	}
}

// Confirm asks a yes-or-no question. Every answer but yes is no.
func (c *Console) Confirm(ctx context.Context, prompt string) (bool, error) {
	line, err := c.PromptLine(ctx, prompt+" [y/N]")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	yes, _ := notice.ParseYesNo(strings.TrimSpace(line))
	return yes, err
}
