package slack

import (
	"context"
	"sync"
	"time"
)

// messageStates remembers what each message shows. So older content never replaces newer content when several calls
// change one message.
type messageStates struct{ states *cache[*messageState] }

type messageState struct {
	mu    sync.Mutex
	at    time.Time
	final bool
	// withoutButtons reports whether the buttons were removed while an answer is
	// processed.
	withoutButtons bool
}

// maxMessageStates is how many messages are remembered. Messages that have not changed in the last few minutes may be
// forgotten without harm.
const maxMessageStates = 10_000

func newMessageStates() messageStates {
	return messageStates{newCache[*messageState](maxMessageStates, 0)}
}

func (m *messageStates) stateOf(key string) *messageState {
	s, _ := m.states.GetOrSetFunc(key, func() *messageState { return &messageState{} })
	return s.Value()
}

// update calls do to change a message, unless the message shows something newer.
// Only one caller at a time changes a message.
func (m *messageStates) update(key string, at time.Time, final bool, do func() error) error {
	s := m.stateOf(key)
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
	s.at, s.final, s.withoutButtons = at, final, false
	return nil
}

// stripButtons calls do to remove the buttons, unless the message is final.
func (m *messageStates) stripButtons(key string, do func() error) error {
	s := m.stateOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.final {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	s.withoutButtons = true
	return nil
}

// restoreButtons calls do to put the buttons back, unless the message was rewritten
// since.
func (m *messageStates) restoreButtons(key string, do func() error) error {
	s := m.stateOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.withoutButtons {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	s.withoutButtons = false
	return nil
}

// isOlder reports whether a new content is older than the shown one. A content that is not final never replaces a final
// one, whatever the times are.
func isOlder(shownAt time.Time, shownFinal bool, at time.Time, final bool) bool {
	if shownFinal != final {
		return shownFinal
	}
	return at.Before(shownAt)
}

// deduplicator makes each request of Slack take effect once, however often and however
// close together its copies arrive. A request that failed may be done again.
type deduplicator struct{ calls *cache[*call] }

type call struct {
	done   chan struct{}
	reply  reply
	failed bool // it failed, so the next caller tries again
}

// requestRetention is how long a request is remembered. It is longer than the time for which a signature is valid.
const requestRetention = 15 * time.Minute

// maxRequests is how many requests are remembered, about 50 a second.
const maxRequests = 50_000

func newDeduplicator() deduplicator {
	return deduplicator{newCache[*call](maxRequests, requestRetention)}
}

// do calls f once for each id, and returns its result. Repeated calls get the same response, without its afterResponse.
func (d *deduplicator) do(ctx context.Context, id string, f func() (reply, bool)) reply {
	for {
		item, isRepeated := d.calls.GetOrSetFunc(id, func() *call { return &call{done: make(chan struct{})} })
		t := item.Value()
		if !isRepeated {
			r, ok := f()
			t.reply, t.failed = r, !ok
			if !ok {
				d.calls.Delete(id)
			}
			close(t.done)
			return r
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return replyUnavailable
		}
		if !t.failed {
			return t.reply.withoutWork()
		}
	}
}
