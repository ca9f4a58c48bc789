package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// pollLength is the longest time of one wait for an answer.
const pollLength = time.Minute

// awaitAnswer waits until a question is closed and prints only the answer. A limit ends the wait and leaves the
// question open; 0 is no limit. If the server is away for a while, awaitAnswer waits for it too.
func (s *session) awaitAnswer(ctx context.Context, q *fermata.Question, limit time.Duration) error {
	if q.Status == fermata.Pending {
		s.talk().line("waiting for an answer: fermata respond %s", shortID(q.ID))
	}
	end := s.now().Add(limit)
	away := false
	wait, hears := s.client.WaitWords, true
	for q.Status == fermata.Pending {
		length := pollLength
		if limit > 0 {
			length = min(length, end.Sub(s.now()))
			if length <= 0 {
				s.talk().line("nobody has answered yet; %s stays open", q.ID)
				if s.JSON {
					if err := s.json(q); err != nil {
						return err
					}
				}
				return outcome(exitPending)
			}
		}
		next, err := wait(ctx, q.ID, length)
		if err == nil && hears && next.Status == fermata.Pending {
			err = s.hearWords(ctx, next)
		}
		switch {
		case ctx.Err() != nil:
			s.talk().line("%s stays open", q.ID)
			return context.Cause(ctx)
		case isAway(err):
			s.waitForServer(ctx, away, min(length, readAgain))
			away = true
		case err != nil && hears:
			// If the messages cannot be read, wait for the answer alone.
			wait, hears = s.client.WaitQuestion, false
		case err != nil:
			return err
		default:
			q, away = next, false
		}
	}
	return s.answered(q)
}

// hearWords prints messages of people for the asker, and records that they were delivered.
func (s *session) hearWords(ctx context.Context, q *fermata.Question) error {
	rc, err := s.client.Context(ctx, q.TaskID)
	if err != nil {
		return err
	}
	var heard []string
	for _, m := range rc.UnheardAtDesk() {
		s.talk().text(m.Author.DisplayName() + " wrote: " + m.Body)
		heard = append(heard, m.ID)
	}
	if len(heard) == 0 {
		return nil
	}
	return s.client.HandMessages(ctx, q.TaskID, heard)
}

// answered prints the answer of a closed question, and returns the error that gives its exit code.
func (s *session) answered(q *fermata.Question) error {
	r := q.Resolution
	if s.JSON {
		if err := s.json(q); err != nil {
			return err
		}
	} else {
		s.printAnswer(r)
	}
	if r.Comment != "" {
		s.talk().text("comment: " + r.Comment)
	}
	switch {
	case r.Status == fermata.TimedOut:
		s.talk().text(r.Sentence())
		return outcome(exitTimedOut)
	case r.Status == fermata.Cancelled:
		s.talk().text(r.Sentence())
		return outcome(exitCancelled)
	case r.SaysNo(q.Type):
		return outcome(exitRejected)
	default:
		return nil
	}
}

// printAnswer prints the bare answer: one line for each choice, or one line for each item with a tab between key and
// value.
func (s *session) printAnswer(r *fermata.Resolution) {
	p := s.data()
	write := func(text string) {
		if s.outTerm {
			text = clean(text)
		}
		p.line("%s", text)
	}
	if r.Answer != nil {
		if list, ok := r.Answer.([]any); ok {
			for _, v := range list {
				write(value(v))
			}
			return
		}
		write(value(r.Answer))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r.Answers)) {
		write(key + "\t" + strings.ReplaceAll(value(r.Answers[key]), "\n", " "))
	}
}

// retryUntilUp calls read until the server is up. A server that is away is expected to come back.
func (s *session) retryUntilUp(ctx context.Context, read func() error) error {
	for away := false; ; away = true {
		err := read()
		if !isAway(err) || ctx.Err() != nil {
			return err
		}
		s.waitForServer(ctx, away, readAgain)
	}
}

// isAway reports whether an error means that the server is unreachable or takes no calls at present.
func isAway(err error) bool {
	code := fermata.CodeOf(err)
	return code == fermata.CodeUnavailable || code == fermata.CodeRateLimited
}

// waitForServer pauses before the next call. It prints the reason unless told is true.
func (s *session) waitForServer(ctx context.Context, told bool, d time.Duration) {
	if !told {
		s.talk().line("the server is away; still waiting")
	}
	pause(ctx, d)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
