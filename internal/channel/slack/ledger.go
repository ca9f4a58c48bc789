package slack

import (
	"context"
	"sync"
	"time"
)

// ledger remembers what each message shows. So if several calls change one
// message, none of them replaces newer content by older content.
type ledger struct {
	mu    sync.Mutex
	shown map[string]*shown
}

type shown struct {
	mu    sync.Mutex
	at    time.Time
	final bool
	// bare reports whether the buttons were removed while an answer is
	// processed.
	bare bool
}

// mostShown is how many messages are remembered; beyond it, all of them are
// forgotten. That is harmless for a message that has not changed in the last
// few minutes.
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

// write calls do to change a message, unless the message shows something newer.
// Only one caller at a time changes a message.
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

// strip calls do to remove the buttons, unless the message is final.
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

// restore calls do to put the buttons back, unless the message was rewritten
// since.
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

// isOlder reports whether a new content is older than the shown one. A final
// content stays, whatever the clocks say.
func isOlder(shownAt time.Time, shownFinal bool, at time.Time, final bool) bool {
	if shownFinal != final {
		return shownFinal
	}
	return at.Before(shownAt)
}

// once makes each request of Slack take effect once, however often and however
// close together its copies arrive. A request that failed may be done again.
type once struct {
	mu   sync.Mutex
	seen map[string]*turn
}

type turn struct {
	done  chan struct{}
	began time.Time
	reply reply
	again bool // it failed, so the next caller tries again
}

// remembered is how long a request is remembered. It is longer than a signature
// is accepted.
const remembered = 15 * time.Minute

// do calls f once for each id, and returns its result. Repeated calls get the
// same response, but its work is not done again.
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
