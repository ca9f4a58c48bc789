package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// promptLine writes a prompt to standard error and reads a line of standard input. At the end of the input it returns
// io.EOF.
func (s *console) promptLine(ctx context.Context, prompt string) (string, error) {
	if s.neverAsk {
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "%s: nothing may be asked at the terminal (--no-input)", prompt)
	}
	_, _ = io.WriteString(s.errOut, prompt+": ")
	return s.nextLine(ctx)
}

// nextLine reads a line of standard input, or returns io.EOF at its end. It refuses a line that is not UTF-8, because
// JSON would carry other characters.
func (s *console) nextLine(ctx context.Context) (string, error) {
	type reading struct {
		line string
		err  error
	}
	read := make(chan reading, 1)
	go func() {
		line, err := s.lines.ReadString('\n')
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

// confirm asks a yes-or-no question. Every answer but yes is no.
func (s *console) confirm(ctx context.Context, prompt string) (bool, error) {
	line, err := s.promptLine(ctx, prompt+" [y/N]")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	yes, _ := notice.ParseYesNo(strings.TrimSpace(line))
	return yes, err
}

// askItems asks for each item on a line of its own. A person may try again; a line from a file must fit. An empty line
// leaves an item out.
func (s *session) askItems(ctx context.Context, q *fermata.Question) (map[string]any, error) {
	values := map[string]any{}
	for i := range q.Items {
		it := &q.Items[i]
		for {
			line, err := s.promptLine(ctx, promptOf(q, it))
			if errors.Is(err, io.EOF) {
				line, err = "", nil
			}
			if err != nil {
				return nil, err
			}
			if strings.TrimSpace(line) == "" {
				if it.IsRequired() {
					return nil, noAnswerError(q)
				}
				break
			}
			v, err := notice.ParseValue(it, line)
			if err == nil {
				values[it.Key] = v
				break
			}
			refused := fermata.Invalid(fermata.Problem{Field: it.Key, Message: err.Error()})
			if it.IsStrict() {
				refused = refused.WithHint("%s", q.OwnWordsHint())
			}
			if !s.inTerm {
				return nil, refused
			}
			s.printError(refused)
		}
	}
	return values, nil
}

// noAnswerError returns the error for a command that got no answer from the person. The hint of the error shows how to
// give the answer on the command line.
func noAnswerError(q *fermata.Question) error {
	e := fermata.Errorf(fermata.CodeInvalidRequest, "no answer was given, nothing was sent")
	if len(q.Items) == 1 {
		return e.WithHint("give it behind the id, as in: fermata respond %s ANSWER", q.ID)
	}
	var flags []string
	for _, key := range itemKeys(q) {
		flags = append(flags, "--answer "+key+"=VALUE")
	}
	return e.WithHint("give one for each item, as in: fermata respond %s %s", q.ID, strings.Join(flags, " "))
}
