package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// reconnecting makes clients reconnect all the time, alternately to the two replicas, while events are written on both. No
// client may miss an event or see one twice.
func (b *bench) reconnecting(ctx context.Context) (err error) {
	n, length := 500, 20*time.Second
	if b.short {
		n, length = 100, 5*time.Second
	}
	d, err := b.newDatabase(ctx, postgres, "restless")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.drop(ctx)) }()
	var urls []string
	for range 2 {
		server, failed := b.serve(ctx, d)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, server.stop()) }()
		urls = append(urls, server.url)
	}
	w := &reconnectingClients{urls: urls, tokens: d.tokens}
	if err := w.begin(ctx, n); err != nil {
		return err
	}
	written, err := writeFor(ctx, length, urls, d.tokens)
	if err != nil {
		return err
	}
	if err := w.end(ctx); err != nil {
		return err
	}
	gaps, repeats := w.gaps.Load(), w.repeats.Load()
	b.judge("streams that reconnect over two replicas", title(postgres),
		fmt.Sprintf("%d gaps, %d repeats; %d clients, %d reconnects, %d events", gaps, repeats, n, w.reconnects.Load(), written),
		"no gap, no repeat", gaps == 0 && repeats == 0)
	return nil
}

// lastWords is the title of the task whose event ends the measurement.
const lastWords = "the last one"

// writeInterval is the time between two events. It is long enough that the clients are busy with reconnecting, not with
// reading.
const writeInterval = 40 * time.Millisecond

// writeFor creates tasks on the replicas in turn, for the given time. At the end it creates the task named lastWords. It
// returns the number of tasks.
func writeFor(ctx context.Context, length time.Duration, urls []string, k tokens) (int, error) {
	shared := pool()
	var at []*client
	for i, url := range urls {
		at = append(at, newClient(shared, url, k, i))
	}
	tick := time.NewTicker(writeInterval)
	defer tick.Stop()
	written := 1
	for began := time.Now(); time.Since(began) < length; written++ {
		<-tick.C
		if err := at[written%len(at)].create(ctx); err != nil {
			return 0, err
		}
	}
	_, err := at[0].agent.post(ctx, "/v1/tasks", []byte(`{"title":"`+lastWords+`"}`))
	return written, err
}

// reconnectingClients are clients that change the replica after every few events.
type reconnectingClients struct {
	urls   []string
	tokens tokens

	walking    sync.WaitGroup
	failed     chan error
	gaps       atomic.Int64
	repeats    atomic.Int64
	reconnects atomic.Int64
}

// begin starts the clients, all from the same event.
func (w *reconnectingClients) begin(ctx context.Context, n int) error {
	w.failed = make(chan error, n)
	first, err := follow(ctx, w.urls[0], w.tokens.agent(0), "", -1)
	if err != nil {
		return err
	}
	first.close()
	for i := range n {
		w.walking.Go(func() {
			if err := w.runClient(ctx, i, first.firstSeq); err != nil {
				w.failed <- fmt.Errorf("client %d: %w", i, err)
			}
		})
	}
	return nil
}

// runClient follows the events to the last one.
func (w *reconnectingClients) runClient(ctx context.Context, i int, seen int64) error {
	for turn := 0; ; turn++ {
		f, err := follow(ctx, w.urls[(i+turn)%len(w.urls)], w.tokens.agent(i), "", seen)
		if err != nil {
			return err
		}
		if turn > 0 {
			w.reconnects.Add(1)
		}
		done, err := w.readSome(f, &seen, 5+(i+turn)%20)
		f.close()
		if done || err != nil {
			return err
		}
	}
}

// readSome takes some events from a stream. done reports whether the last of all events has come.
func (w *reconnectingClients) readSome(f *follower, seen *int64, events int) (done bool, err error) {
	for range events {
		if err := f.conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			return false, err
		}
		fr, err := f.next()
		if err != nil {
			return false, err
		}
		switch {
		case fr.seq <= *seen:
			w.repeats.Add(1)
		case fr.seq > *seen+1:
			w.gaps.Add(1)
		}
		*seen = max(*seen, fr.seq)
		if bytes.Contains(fr.data, []byte(lastWords)) {
			return true, nil
		}
	}
	return false, nil
}

// end waits until every client has seen the last event.
func (w *reconnectingClients) end(ctx context.Context) error {
	all := make(chan struct{})
	go func() {
		w.walking.Wait()
		close(all)
	}()
	select {
	case <-all:
	case err := <-w.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return errors.New("some clients did not reach the last event within a minute")
	}
	select {
	case err := <-w.failed:
		return err
	default:
		return nil
	}
}
