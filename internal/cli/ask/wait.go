package ask

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// maxPollWait is the longest time of one wait for an answer.
const maxPollWait = time.Minute

// awaitAnswer waits until a question is closed and prints only the answer. A limit ends the wait and leaves the
// question open; 0 is no limit. If the server is away for a while, awaitAnswer waits for it too.
func awaitAnswer(ctx context.Context, s *session.Session, q *fermata.Question, limit time.Duration) error {
	if q.Status == fermata.Pending {
		s.Stderr().Line("waiting for an answer: fermata respond %s", terminal.ShortID(q.ID))
	}
	end := s.Now().Add(limit)
	announced := false
	wait, readsMessages := s.Client.WaitQuestionOrMessage, true
	for q.Status == fermata.Pending {
		length := maxPollWait
		if limit > 0 {
			length = min(length, end.Sub(s.Now()))
			if length <= 0 {
				s.Stderr().Line("nobody has answered yet; %s stays open", q.ID)
				if s.JSON {
					if err := s.WriteJSON(q); err != nil {
						return err
					}
				}
				return session.ExitError(session.ExitPending)
			}
		}
		next, err := wait(ctx, q.ID, length)
		if err == nil && readsMessages && next.Status == fermata.Pending {
			err = printNewMessages(ctx, s, next)
		}
		switch {
		case ctx.Err() != nil:
			s.Stderr().Line("%s stays open", q.ID)
			return context.Cause(ctx)
		case session.IsUnavailable(err):
			s.WaitForServer(ctx, announced, min(length, session.RetryDelay))
			announced = true
		case err != nil && readsMessages:
			// If the messages cannot be read, wait for the answer alone.
			wait, readsMessages = s.Client.WaitQuestion, false
		case err != nil:
			return err
		default:
			q, announced = next, false
		}
	}
	return reportAnswer(s, q)
}

// printNewMessages prints messages of people for the asker, and records that they were delivered.
func printNewMessages(ctx context.Context, s *session.Session, q *fermata.Question) error {
	rc, err := s.Client.ResumeContext(ctx, q.TaskID)
	if err != nil {
		return err
	}
	var printedIDs []string
	for _, m := range rc.UnheardDeskMessages() {
		s.Stderr().PrintText(m.Author.DisplayName() + " wrote: " + m.Body)
		printedIDs = append(printedIDs, m.ID)
	}
	if len(printedIDs) == 0 {
		return nil
	}
	return s.Client.HandMessages(ctx, q.TaskID, printedIDs)
}

// reportAnswer prints the answer of a closed question, and returns the error that gives its exit code.
func reportAnswer(s *session.Session, q *fermata.Question) error {
	r := q.Resolution
	if s.JSON {
		if err := s.WriteJSON(q); err != nil {
			return err
		}
	} else {
		printAnswer(s, r)
	}
	if r.Comment != "" {
		s.Stderr().PrintText("comment: " + r.Comment)
	}
	switch {
	case r.Status == fermata.TimedOut:
		s.Stderr().PrintText(r.Sentence())
		return session.ExitError(session.ExitTimedOut)
	case r.Status == fermata.Cancelled:
		s.Stderr().PrintText(r.Sentence())
		return session.ExitError(session.ExitCancelled)
	case r.SaysNo(q.Type):
		return session.ExitError(session.ExitRejected)
	default:
		return nil
	}
}

// printAnswer prints the bare answer: one line for each choice, or one line for each item with a tab between key and
// value.
func printAnswer(s *session.Session, r *fermata.Resolution) {
	p := s.Stdout()
	write := func(text string) {
		if s.OutTerm {
			text = terminal.Clean(text)
		}
		p.Line("%s", text)
	}
	if r.Answer != nil {
		if list, ok := r.Answer.([]any); ok {
			for _, v := range list {
				write(render.ValueText(v))
			}
			return
		}
		write(render.ValueText(r.Answer))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r.Answers)) {
		write(key + "\t" + strings.ReplaceAll(render.ValueText(r.Answers[key]), "\n", " "))
	}
}
