package session

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// EventStream is a stream of events that runs concurrently with a command.
type EventStream struct {
	// Opened reports that the stream delivers every later event. State that was
	// read before may be stale; read it again.
	Opened chan struct{}
	// Events delivers the events in their order.
	Events chan *fermata.Event
	// Ended delivers the error with which the stream ended.
	Ended chan error
	// Dropped reports that the connection broke. The client reopens it.
	Dropped chan struct{}
}

// Listen streams events until ctx ends.
func (s *Session) Listen(ctx context.Context, taskID string) *EventStream {
	l := &EventStream{
		Opened: make(chan struct{}, 1), Events: make(chan *fermata.Event), Ended: make(chan error, 1),
		Dropped: make(chan struct{}, 1),
	}
	q := client.StreamQuery{
		TaskID: taskID,
		OnOpen: func() { notify(l.Opened) }, OnReset: func() { notify(l.Opened) },
		OnDrop: func(error) { notify(l.Dropped) },
	}
	go func() {
		l.Ended <- s.Client.Stream(ctx, q, func(e *fermata.Event) error {
			select {
			case l.Events <- e:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	return l
}

// notify signals a reader that may be busy. It never blocks.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Drain discards the events that have arrived, so that a burst of events counts
// as one change.
func (l *EventStream) Drain() {
	for {
		select {
		case <-l.Events:
		default:
			return
		}
	}
}

// EachEvent calls onEvent for each event of all pages, in order. A limit other than 0 bounds their number. If events
// follow the last one, EachEvent then calls onMore with its number.
func EachEvent(ctx context.Context, server *client.Client, q client.EventQuery, limit int, onEvent func(*fermata.Event) error, onMore func(last int64)) error {
	for n := 0; ; {
		q.Limit = MaxPageSize
		if limit > 0 {
			q.Limit = min(limit-n, MaxPageSize)
		}
		list, next, err := server.Events(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := onEvent(e); err != nil {
				return err
			}
		}
		n += len(list)
		if len(list) == 0 || next <= q.After {
			return nil
		}
		q.After = next
		if limit > 0 && n >= limit {
			q.Limit = 1
			if list, _, err = server.Events(ctx, q); len(list) > 0 {
				onMore(next)
			}
			return err
		}
	}
}
