package answer

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// Walk shows every pending question of a project and takes an answer to each. An empty project means all projects. They
// come in the order of the inbox. An empty line skips a question.
func (c *RespondCommand) Walk(ctx context.Context, s *session.Session, project string) error {
	list, _, err := s.Questions(ctx, client.QuestionQuery{Status: fermata.Pending, Mine: true, Project: project, Sort: fermata.SortInbox}, 1000)
	if err != nil {
		return err
	}
	seen, refused := 0, 0
	for _, q := range list {
		seen++
		if seen > 1 {
			s.Stderr().Line("\n%s", strings.Repeat("─", min(s.Width, 40)))
		}
		err := c.respondToOne(ctx, s, q.ID)
		switch {
		case errors.Is(err, session.ErrQuit):
			return refusedAnswersError(refused)
		case errors.Is(err, errAnswerRefused):
			refused++
		case err != nil:
			return err
		}
	}
	if seen == 0 {
		s.Stderr().Line("nothing waits for an answer")
	}
	return refusedAnswersError(refused)
}

// errAnswerRefused reports that a question was left without an answer, because the answer or the person was refused.
// The error has been printed, and the walk continues with the next question.
var errAnswerRefused = errors.New("the answer was refused")

func refusedAnswersError(n int) error {
	if n == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%d of the answers were refused, and their questions are still open", n).
		WithHint("fermata list shows them")
}

// respondToOne shows one question, and asks for an answer until the server accepts one or the person skips the
// question. If the server refuses the question itself, or if the question needs more than a token, respondToOne skips
// it.
func (c *RespondCommand) respondToOne(ctx context.Context, s *session.Session, id string) error {
	q, err := s.Client.Question(ctx, id)
	if err != nil || q.Status != fermata.Pending {
		return err
	}
	render.PrintQuestion(s.Stderr(), q, s.Now())
	s.Stderr().Line("")
	if err := s.CheckAssurance(ctx, q); err != nil {
		s.PrintError(err)
		return errAnswerRefused
	}
	for {
		values, err := walkItems(ctx, s, q)
		if values == nil || errors.Is(err, session.ErrQuit) || ctx.Err() != nil {
			return err
		}
		if err == nil {
			_, err = c.send(ctx, s, q, values)
		}
		if err == nil {
			return nil
		}
		s.PrintError(err)
		if !s.InTerm {
			return errAnswerRefused
		}
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			return nil
		}
	}
}

// walkItems asks for each item on a line of its own. An empty line for the first item skips the question. q, or the
// end of the input, ends the walk.
func walkItems(ctx context.Context, s *session.Session, q *fermata.Question) (map[string]any, error) {
	texts := map[string]string{}
	for i := range q.Items {
		it := &q.Items[i]
		line, err := s.PromptLine(ctx, promptOf(q, it)+" (empty: next, q: quit)")
		line = strings.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF), err == nil && line == "q":
			return nil, session.ErrQuit
		case err != nil:
			return nil, err
		case line == "" && (it.IsRequired() || len(q.Items) == 1):
			return nil, nil
		case line != "":
			texts[it.Key] = line
		}
	}
	values, err := ParseTexts(q, texts)
	if err != nil {
		return map[string]any{}, err
	}
	return values, nil
}
