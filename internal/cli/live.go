package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// eventStream is a stream of events that runs concurrently with a command.
type eventStream struct {
	// opened reports that the stream delivers every later event. State that was
	// read before may be stale; read it again.
	opened chan struct{}
	events chan *fermata.Event
	// ended delivers the error with which the stream ended.
	ended chan error
	// dropped reports that the connection broke. The client reopens it.
	dropped chan struct{}
}

// listen streams events until ctx ends.
func (s *session) listen(ctx context.Context, taskID string) *eventStream {
	l := &eventStream{
		opened: make(chan struct{}, 1), events: make(chan *fermata.Event), ended: make(chan error, 1),
		dropped: make(chan struct{}, 1),
	}
	q := client.StreamQuery{
		TaskID: taskID,
		OnOpen: func() { notify(l.opened) }, OnReset: func() { notify(l.opened) },
		OnDrop: func(error) { notify(l.dropped) },
	}
	go func() {
		l.ended <- s.client.Stream(ctx, q, func(e *fermata.Event) error {
			select {
			case l.events <- e:
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

// drain discards the events that have arrived, so that a burst of events counts
// as one change.
func (l *eventStream) drain() {
	for {
		select {
		case <-l.events:
		default:
			return
		}
	}
}
