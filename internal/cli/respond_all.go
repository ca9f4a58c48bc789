package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// walk shows every pending question of a project and takes an answer to each. An empty project means all projects. The
// server lists the earliest deadline first. An empty line skips a question.
func (c *respondCommand) walk(ctx context.Context, s *session, project string) error {
	list, _, err := s.questions(ctx, client.QuestionQuery{Status: fermata.Pending, Mine: true, Project: project}, 1000)
	if err != nil {
		return err
	}
	seen, refused := 0, 0
	for _, q := range list {
		seen++
		if seen > 1 {
			s.stderr().line("\n%s", strings.Repeat("─", min(s.width, 40)))
		}
		err := c.respondToOne(ctx, s, q.ID)
		switch {
		case errors.Is(err, errQuit):
			return refusedAnswersError(refused)
		case errors.Is(err, errAnswerRefused):
			refused++
		case err != nil:
			return err
		}
	}
	if seen == 0 {
		s.stderr().line("nothing waits for an answer")
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
func (c *respondCommand) respondToOne(ctx context.Context, s *session, id string) error {
	q, err := s.client.Question(ctx, id)
	if err != nil || q.Status != fermata.Pending {
		return err
	}
	s.stderr().printQuestion(q, s.now())
	s.stderr().line("")
	if err := s.checkAssurance(ctx, q); err != nil {
		s.printError(err)
		return errAnswerRefused
	}
	for {
		values, err := s.walkItems(ctx, q)
		if values == nil || errors.Is(err, errQuit) || ctx.Err() != nil {
			return err
		}
		if err == nil {
			_, err = c.send(ctx, s, q, values)
		}
		if err == nil {
			return nil
		}
		s.printError(err)
		if !s.inTerm {
			return errAnswerRefused
		}
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			return nil
		}
	}
}

// walkItems asks for each item on a line of its own. An empty line for the first item skips the question. q, or the
// end of the input, ends the walk.
func (s *session) walkItems(ctx context.Context, q *fermata.Question) (map[string]any, error) {
	texts := map[string]string{}
	for i := range q.Items {
		it := &q.Items[i]
		line, err := s.promptLine(ctx, promptOf(q, it)+" (empty: next, q: quit)")
		line = strings.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF), err == nil && line == "q":
			return nil, errQuit
		case err != nil:
			return nil, err
		case line == "" && (it.IsRequired() || len(q.Items) == 1):
			return nil, nil
		case line != "":
			texts[it.Key] = line
		}
	}
	values, err := parseAnswerTexts(q, texts)
	if err != nil {
		return map[string]any{}, err
	}
	return values, nil
}
