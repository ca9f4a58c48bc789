package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The load of channels: the interval between questions, and the number of channels that each question goes to.
const (
	questionInterval    = 50 * time.Millisecond
	channelsPerQuestion = 10
	// updatedBar is how soon all messages about a question must show its answer.
	updatedBar = time.Second
)

// channels measures how long after an answer was acknowledged every message about its question shows that the question
// is answered.
func (b *bench) channels(ctx context.Context) error {
	return b.runOnEach(ctx, "channels", func(d *database, server *process) error { return b.channelsOn(ctx, d, server) })
}

func (b *bench) channelsOn(ctx context.Context, d *database, server *process) (err error) {
	n := 1200
	if b.short {
		n = 100
	}
	received, err := listenForMessages(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, received.server.Close()) }()
	shared := pool()
	names, err := received.addChannels(ctx, newCaller(shared, server.url, d.tokens.person(0)))
	if err != nil {
		return err
	}
	sent, updated, err := received.runLoad(ctx, n, func(i int) *client { return newClient(shared, server.url, d.tokens, i) }, names)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%s, %.0f questions/s, %d messages each", title(d.kind), float64(time.Second)/float64(questionInterval), channelsPerQuestion)
	b.reportFact("question asked to its last message sent", where, fmt.Sprintf("p50 %s, p99 %s of %d", ms(median(sent)), ms(quantile(sent, 0.99)), n))
	p99 := quantile(updated, 0.99)
	b.judge("answer acknowledged to its last message updated", where,
		fmt.Sprintf("p50 %s, p99 %s of %d", ms(median(updated)), ms(p99), n), "p99 ≤ 1 s", p99 <= updatedBar)
	return nil
}

// messages records the messages that the receivers of the channels got.
type messages struct {
	server *http.Server
	url    string
	mu     sync.Mutex
	// asked and closed record, by question, which receivers got the message.
	asked, closed map[string]*arrivals
}

// arrivals holds the receivers that got a message about a question.
type arrivals struct {
	paths map[string]bool
	last  time.Time
	all   chan struct{}
}

// listenForMessages starts one receiver for all channels. Each channel has its own path.
func listenForMessages(ctx context.Context) (*messages, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &messages{url: "http://" + listener.Addr().String(), asked: map[string]*arrivals{}, closed: map[string]*arrivals{}}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.server.Serve(listener) }()
	return m, nil
}

// ServeHTTP receives a message.
func (m *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	now := time.Now()
	to := m.asked
	if bytes.Contains(body[:min(len(body), 64)], []byte(`"notice.closed"`)) {
		to = m.closed
	}
	a := m.arrivalsOf(to, quotedAfter(body, `"question":{"id":"`))
	m.mu.Lock()
	if !a.paths[r.URL.Path] {
		a.paths[r.URL.Path], a.last = true, now
		if len(a.paths) == channelsPerQuestion {
			close(a.all)
		}
	}
	m.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (m *messages) arrivalsOf(all map[string]*arrivals, question string) *arrivals {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := all[question]
	if a == nil {
		a = &arrivals{paths: map[string]bool{}, all: make(chan struct{})}
		all[question] = a
	}
	return a
}

// addChannels adds the channels and returns the end of a question's JSON that names them.
func (m *messages) addChannels(ctx context.Context, admin *caller) (string, error) {
	var names []string
	for i := range channelsPerQuestion {
		body := fmt.Sprintf(`{"name":"hook%d","kind":"webhook","settings":{"url":"%s/%d","allow_private":true}}`, i, m.url, i)
		if _, err := admin.post(ctx, "/v1/channels", []byte(body)); err != nil {
			return "", err
		}
		names = append(names, fmt.Sprintf(`"hook%d"`, i))
	}
	return `","channels":[` + strings.Join(names, ",") + `]}}`, nil
}

// runLoad asks n questions, one every questionInterval, and answers each when all of its messages were sent. It returns
// how long sending and updating took for each question.
func (m *messages) runLoad(ctx context.Context, n int, newClient func(i int) *client, end string) (sent, updated []time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(n)*questionInterval+time.Minute)
	defer cancel()
	var asking sync.WaitGroup
	var mu sync.Mutex
	tick := time.NewTicker(questionInterval)
	defer tick.Stop()
	for i := range n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		asking.Go(func() {
			s, u, oneErr := m.runQuestion(ctx, newClient(i), end)
			mu.Lock()
			defer mu.Unlock()
			sent, updated, err = append(sent, s), append(updated, u), errors.Join(err, oneErr)
		})
	}
	asking.Wait()
	return sent, updated, err
}

// runQuestion asks a question, answers it when all receivers got it, and waits until all receivers got the update.
func (m *messages) runQuestion(ctx context.Context, c *client, end string) (sent, updated time.Duration, err error) {
	if err := c.create(ctx); err != nil {
		return 0, 0, err
	}
	r, err := c.claim(ctx)
	if err != nil {
		return 0, 0, err
	}
	reply, err := c.agent.post(ctx, "/v1/runs/"+r.run+"/finish", withToken(r.token, askRest, "1d", end))
	if err != nil {
		return 0, 0, err
	}
	question, began := quotedAfter(reply, `"pending_question_id":"`), time.Now()
	told, err := m.awaitAll(ctx, m.asked, question)
	if err != nil {
		return 0, 0, fmt.Errorf("messages of question %s: %w", question, err)
	}
	if err := c.answer(ctx, question); err != nil {
		return 0, 0, err
	}
	acknowledged := time.Now()
	closed, err := m.awaitAll(ctx, m.closed, question)
	if err != nil {
		return 0, 0, fmt.Errorf("updates of question %s: %w", question, err)
	}
	return max(0, told.Sub(began)), max(0, closed.Sub(acknowledged)), nil
}

// awaitAll returns when the last receiver got the message about a question.
func (m *messages) awaitAll(ctx context.Context, all map[string]*arrivals, question string) (time.Time, error) {
	a := m.arrivalsOf(all, question)
	select {
	case <-a.all:
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return a.last, nil
}
