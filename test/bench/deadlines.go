package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// deadlines lets the deadlines of many questions pass in the same second, and measures when the last question is settled.
func (b *bench) deadlines(ctx context.Context, c *waitingDatabases, server *process) error {
	const bar = 5 * time.Second
	n := 10_000
	if b.short {
		n = 2000
	}
	s := &deadlineBatch{n: n, shared: pool(), url: server.url, tokens: c.full.tokens}
	if err := s.allowShort(ctx); err != nil {
		return err
	}
	f, err := follow(ctx, server.url, c.full.tokens.agent(0), "?type=question.timed_out", -1)
	if err != nil {
		return err
	}
	defer f.close()
	if err := s.ask(ctx); err != nil {
		return err
	}
	last, closed, duplicates, err := s.awaitTimeouts(ctx, f)
	if err != nil {
		return err
	}
	late := last.Sub(s.deadline)
	b.judge(fmt.Sprintf("%s deadlines in one second", thousands(n)), c.label(),
		fmt.Sprintf("the last settled after %s; %s settled, %d twice", ms(late), thousands(closed), duplicates),
		"≤ 5 s, each once", late <= bar && closed == n && duplicates == 0)
	return nil
}

// deadlineBatch is a set of questions with one deadline.
type deadlineBatch struct {
	n        int
	shared   *http.Client
	url      string
	tokens   tokens
	deadline time.Time
}

// allowShort allows deadlines of seconds for questions.
func (s *deadlineBatch) allowShort(ctx context.Context) error {
	admin := newCaller(s.shared, s.url, s.tokens.person(0))
	_, err := admin.put(ctx, "/v1/policies", []byte(`{"min_timeout":"1s","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":true}`))
	return err
}

// ask first creates and claims all tasks. Only then does it ask the questions, so that all of them can share a deadline
// that is near.
func (s *deadlineBatch) ask(ctx context.Context) error {
	runs := make([]claimedRun, s.n)
	began := time.Now()
	err := s.forEach(func(c *client, i int) error {
		if err := c.create(ctx); err != nil {
			return err
		}
		var err error
		runs[i], err = c.claim(ctx)
		return err
	})
	if err != nil {
		return err
	}
	// Each task took two requests so far, and needs one more. Twice the time of the two is enough for it.
	s.deadline = time.Now().Add(2*time.Since(began) + 2*time.Second)
	return s.forEach(func(c *client, i int) error {
		timeout := time.Until(s.deadline).Round(time.Millisecond)
		if timeout <= 0 {
			return errors.New("asking took longer than planned: the deadline has passed")
		}
		_, err := c.ask(ctx, runs[i], timeout.String())
		return err
	})
}

// forEach calls do for every question, with many clients at once.
func (s *deadlineBatch) forEach(do func(c *client, i int) error) error {
	clients := make([]*client, 64)
	for k := range clients {
		clients[k] = newClient(s.shared, s.url, s.tokens, k)
	}
	return doConcurrently(len(clients), s.n, func(k, i int) error { return do(clients[k], i) })
}

// awaitTimeouts reads the stream until every question has timed out, and a little longer, in case one times out twice.
func (s *deadlineBatch) awaitTimeouts(ctx context.Context, f *follower) (last time.Time, closed, duplicates int, err error) {
	type heard struct {
		question string
		at       time.Time
	}
	events := make(chan heard, s.n)
	go func() {
		defer close(events)
		for {
			fr, err := f.next()
			if err != nil {
				return
			}
			events <- heard{quotedAfter(fr.data, `"question_id":"`), time.Now()}
		}
	}()
	seen := make(map[string]bool, s.n)
	giveUp := time.After(time.Until(s.deadline) + 30*time.Second)
	var quiet <-chan time.Time
	for {
		select {
		case e, ok := <-events:
			switch {
			case !ok:
				return last, len(seen), duplicates, errors.New("the stream ended")
			case seen[e.question]:
				duplicates++
			default:
				seen[e.question], last = true, e.at
			}
			if len(seen) == s.n && quiet == nil {
				quiet = time.After(time.Second)
			}
		case <-quiet:
			return last, len(seen), duplicates, nil
		case <-giveUp:
			return time.Now(), len(seen), duplicates, nil
		case <-ctx.Done():
			return last, len(seen), duplicates, ctx.Err()
		}
	}
}
