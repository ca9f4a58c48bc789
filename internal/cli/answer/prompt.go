package answer

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/notice"
)

// askItems asks for each item on a line of its own. A person may try again; a line from a file must fit. An empty line
// leaves an item out.
func askItems(ctx context.Context, s *session.Session, q *fermata.Question) (map[string]any, error) {
	values := map[string]any{}
	for i := range q.Items {
		it := &q.Items[i]
		for {
			line, err := s.PromptLine(ctx, promptOf(q, it))
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
			if !s.InTerm {
				return nil, refused
			}
			s.PrintError(refused)
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
