package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// maxPollWait is the longest time of one wait for an answer.
const maxPollWait = time.Minute

// awaitAnswer waits until a question is closed and prints only the answer. A limit ends the wait and leaves the
// question open; 0 is no limit. If the server is away for a while, awaitAnswer waits for it too.
func (s *session) awaitAnswer(ctx context.Context, q *fermata.Question, limit time.Duration) error {
	if q.Status == fermata.Pending {
		s.stderr().line("waiting for an answer: fermata respond %s", shortID(q.ID))
	}
	end := s.now().Add(limit)
	announced := false
	wait, readsMessages := s.client.WaitQuestionOrMessage, true
	for q.Status == fermata.Pending {
		length := maxPollWait
		if limit > 0 {
			length = min(length, end.Sub(s.now()))
			if length <= 0 {
				s.stderr().line("nobody has answered yet; %s stays open", q.ID)
				if s.JSON {
					if err := s.writeJSON(q); err != nil {
						return err
					}
				}
				return exitError(exitPending)
			}
		}
		next, err := wait(ctx, q.ID, length)
		if err == nil && readsMessages && next.Status == fermata.Pending {
			err = s.printNewMessages(ctx, next)
		}
		switch {
		case ctx.Err() != nil:
			s.stderr().line("%s stays open", q.ID)
			return context.Cause(ctx)
		case isUnavailable(err):
			s.waitForServer(ctx, announced, min(length, retryDelay))
			announced = true
		case err != nil && readsMessages:
			// If the messages cannot be read, wait for the answer alone.
			wait, readsMessages = s.client.WaitQuestion, false
		case err != nil:
			return err
		default:
			q, announced = next, false
		}
	}
	return s.reportAnswer(q)
}

// printNewMessages prints messages of people for the asker, and records that they were delivered.
func (s *session) printNewMessages(ctx context.Context, q *fermata.Question) error {
	rc, err := s.client.ResumeContext(ctx, q.TaskID)
	if err != nil {
		return err
	}
	var printedIDs []string
	for _, m := range rc.UnheardDeskMessages() {
		s.stderr().printText(m.Author.DisplayName() + " wrote: " + m.Body)
		printedIDs = append(printedIDs, m.ID)
	}
	if len(printedIDs) == 0 {
		return nil
	}
	return s.client.HandMessages(ctx, q.TaskID, printedIDs)
}

// reportAnswer prints the answer of a closed question, and returns the error that gives its exit code.
func (s *session) reportAnswer(q *fermata.Question) error {
	r := q.Resolution
	if s.JSON {
		if err := s.writeJSON(q); err != nil {
			return err
		}
	} else {
		s.printAnswer(r)
	}
	if r.Comment != "" {
		s.stderr().printText("comment: " + r.Comment)
	}
	switch {
	case r.Status == fermata.TimedOut:
		s.stderr().printText(r.Sentence())
		return exitError(exitTimedOut)
	case r.Status == fermata.Cancelled:
		s.stderr().printText(r.Sentence())
		return exitError(exitCancelled)
	case r.SaysNo(q.Type):
		return exitError(exitRejected)
	default:
		return nil
	}
}

// printAnswer prints the bare answer: one line for each choice, or one line for each item with a tab between key and
// value.
func (s *session) printAnswer(r *fermata.Resolution) {
	p := s.stdout()
	write := func(text string) {
		if s.outTerm {
			text = clean(text)
		}
		p.line("%s", text)
	}
	if r.Answer != nil {
		if list, ok := r.Answer.([]any); ok {
			for _, v := range list {
				write(valueText(v))
			}
			return
		}
		write(valueText(r.Answer))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r.Answers)) {
		write(key + "\t" + strings.ReplaceAll(valueText(r.Answers[key]), "\n", " "))
	}
}

// retryUntilUp calls read until the server is up. It expects that an unreachable server comes back.
func (s *session) retryUntilUp(ctx context.Context, read func() error) error {
	for announced := false; ; announced = true {
		err := read()
		if !isUnavailable(err) || ctx.Err() != nil {
			return err
		}
		s.waitForServer(ctx, announced, retryDelay)
	}
}

// isUnavailable reports whether an error means that the server is unreachable or takes no calls at present.
func isUnavailable(err error) bool {
	code := fermata.CodeOf(err)
	return code == fermata.CodeUnavailable || code == fermata.CodeRateLimited
}

// waitForServer pauses before the next call. It prints the reason unless announced is true.
func (s *session) waitForServer(ctx context.Context, announced bool, d time.Duration) {
	if !announced {
		s.stderr().line("the server is away; still waiting")
	}
	sleep(ctx, d)
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
