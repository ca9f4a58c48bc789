package slack

import (
	"context"
	"sync"
	"time"
)

// ledger remembers what messages say, so that of several that change one, none
// writes something older over something newer.
type ledger struct {
	mu    sync.Mutex
	shown map[string]*shown
}

type shown struct {
	mu    sync.Mutex
	at    time.Time
	final bool
	// bare says that its buttons were taken away for the time of an answer.
	bare bool
}

// mostShown bounds the memory: what is forgotten is only what no message of
// the last minutes says.
const mostShown = 10_000

func (l *ledger) entryOf(key string) *shown {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.shown) >= mostShown {
		l.shown = nil
	}
	if l.shown == nil {
		l.shown = map[string]*shown{}
	}
	s := l.shown[key]
	if s == nil {
		s = &shown{}
		l.shown[key] = s
	}
	return s
}

// write does what changes a message, unless the message says something newer.
// One message is changed by one at a time.
func (l *ledger) write(key string, at time.Time, final bool, do func() error) error {
	s := l.entryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.IsZero() {
		at = s.at
	}
	if isOlder(s.at, s.final, at, final) {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	s.at, s.final, s.bare = at, final, false
	return nil
}

// strip takes the buttons away, unless the message has come to its end.
func (l *ledger) strip(key string, do func() error) error {
	s := l.entryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.final {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	s.bare = true
	return nil
}

// restore puts them back, unless the message was written anew since.
func (l *ledger) restore(key string, do func() error) error {
	s := l.entryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.bare {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	s.bare = false
	return nil
}

// isOlder reports whether something of the second kind is older than the first:
// an end stays, whatever the clocks say.
func isOlder(shownAt time.Time, shownFinal bool, at time.Time, final bool) bool {
	if shownFinal != final {
		return shownFinal
	}
	return at.Before(shownAt)
}

// once does what one request of Slack asks for one time, however often and
// however close together it comes. What failed may be done again.
type once struct {
	mu   sync.Mutex
	seen map[string]*turn
}

type turn struct {
	done  chan struct{}
	began time.Time
	reply reply
	again bool // it failed: the next one tries again
}

// remembered is how long a request is remembered: longer than its signature is
// fresh.
const remembered = 15 * time.Minute

// do returns what f returned for the id, now or before.
func (o *once) do(ctx context.Context, id string, f func() (reply, bool)) reply {
	for {
		t, mine := o.take(id)
		if mine {
			r, ok := f()
			o.mu.Lock()
			t.reply, t.again = r, !ok
			if !ok {
				delete(o.seen, id)
			}
			o.mu.Unlock()
			close(t.done)
			return r
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return unavailable
		}
		if !t.again {
			return t.reply.withoutWork()
		}
	}
}

func (o *once) take(id string) (t *turn, mine bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t, found := o.seen[id]; found {
		return t, false
	}
	now := time.Now()
	if o.seen == nil {
		o.seen = map[string]*turn{}
	}
	if len(o.seen) > 0 && len(o.seen)%256 == 0 {
		for key, old := range o.seen {
			if now.Sub(old.began) > remembered {
				delete(o.seen, key)
			}
		}
	}
	t = &turn{done: make(chan struct{}), began: now}
	o.seen[id] = t
	return t, true
}
