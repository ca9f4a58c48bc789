package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
)

// appendEvents commits n events at once.
func (w *world) appendEvents(n int) {
	w.Helper()
	w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		for i := range n {
			tx.Append(&fermata.Event{Type: fermata.EventProgressReported, Actor: fermata.SystemActor, Data: fmt.Appendf(nil, `{"n":%d}`, i)})
		}
		return nil
	}))
}

// follow reads the events after a number until the last one. It checks that
// none is missing and none comes twice.
func follow(ctx context.Context, e *engine.Engine, after, last int64) error {
	for after < last {
		events, err := e.Tail().Next(ctx, store.DefaultWorkspace, after)
		if err != nil {
			return err
		}
		for _, event := range events {
			if event.Seq != after+1 {
				return fmt.Errorf("event %d follows event %d", event.Seq, after)
			}
			if len(event.JSON) == 0 || event.Hash == "" {
				return fmt.Errorf("event %d is not whole: %+v", event.Seq, event)
			}
			after = event.Seq
		}
	}
	return nil
}

func TestTailIsSharedNearTheEnd(t *testing.T) {
	each(t, func(w *world) {
		w.OK(w.Engine.Start(w.Context()))
		after := w.events()
		w.appendEvents(10)
		first, err := w.Engine.Tail().Next(w.Context(), "default", after)
		w.OK(err)
		second, err := w.Engine.Tail().Next(w.Context(), "default", after+4)
		w.OK(err)
		w.Equal([]int{10, 6}, []int{len(first), len(second)})
		if first[4] != second[0] || first[9] != second[5] {
			w.Error("readers near the end do not share the events")
		}
	})
}

func TestTailReplaysFromTheDatabase(t *testing.T) {
	each(t, func(w *world) {
		for range 4 {
			w.appendEvents(500)
		}
		last := w.events()
		first, err := w.Engine.Tail().Next(w.Context(), "default", 0)
		w.OK(err)
		w.Equal([]int64{256, 1, 256}, []int64{int64(len(first)), first[0].Seq, first[255].Seq})
		again, err := w.Engine.Tail().Next(w.Context(), "default", 0)
		w.OK(err)
		if first[0] == again[0] {
			w.Error("old events are kept in memory")
		}
		w.Equal(first[0].Event, again[0].Event)
		w.Equal(string(first[0].JSON), string(again[0].JSON))
		w.OK(follow(w.Context(), w.Engine, 0, last))

		// After a restart nothing is in memory.
		fresh := engine.New(storetest.Open(w.T, w.Options), engine.Options{})
		w.OK(fresh.Start(w.Context()))
		w.OK(follow(w.Context(), fresh, 0, last))
		w.OK(follow(w.Context(), fresh, last-1, last))
	})
}

func TestTailWaits(t *testing.T) {
	each(t, func(w *world) {
		w.OK(w.Engine.Start(w.Context()))
		after := w.events()
		ctx, cancel := context.WithCancel(w.Context())
		got := make(chan error, 1)
		go func() { got <- follow(ctx, w.Engine, after, after+2) }()
		w.appendEvents(1)
		w.appendEvents(1)
		w.OK(patience.Receive(w, "the stream ends", got))
		go func() { got <- follow(ctx, w.Engine, after+2, after+3) }()
		cancel()
		if patience.Receive(w, "the stream ends", got) == nil {
			w.Error("an event came from nowhere")
		}
	})
}

func TestTailUnderConcurrentWriters(t *testing.T) {
	each(t, func(w *world) {
		const writers, writes = 4, 30
		w.OK(w.Engine.Start(w.Context()))
		start := w.events()
		last := start + writers*writes
		var wg sync.WaitGroup
		for _, after := range []int64{0, start, last - 1, start + 5} {
			wg.Go(func() {
				if err := follow(w.Context(), w.Engine, after, last); err != nil {
					w.Errorf("reader from %d: %v", after, err)
				}
			})
		}
		for range writers {
			wg.Go(func() {
				for range writes {
					if _, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x"}); err != nil {
						w.Errorf("create: %v", err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// replica returns one more engine on the same PostgreSQL, which follows the others.
func (w *world) replica() *engine.Engine {
	w.Helper()
	e := engine.New(storetest.Open(w.T, w.Options), engine.Options{})
	w.followOthers(e)
	return e
}

// followOthers lets an engine follow the others until the test ends. Only wake-ups can wake it, because its next poll
// would be long after the test.
func (w *world) followOthers(e *engine.Engine) {
	w.Helper()
	engine.SetRescanInterval(e, 24*time.Hour)
	w.OK(e.Start(w.Context()))
	testkit.Run(w, e.RunTail)
}

func onReplicas(t *testing.T, test func(w *world, other *engine.Engine)) {
	each(t, func(w *world) {
		if w.DB.Dialect() != "postgres" {
			w.Skip("one process uses a SQLite file")
		}
		w.followOthers(w.Engine)
		test(w, w.replica())
	})
}

func TestTailOfReplicas(t *testing.T) {
	onReplicas(t, func(w *world, other *engine.Engine) {
		const writes = 40
		start := w.events()
		last := start + 4*writes
		var wg sync.WaitGroup
		for _, e := range []*engine.Engine{w.Engine, other} {
			for _, after := range []int64{0, start} {
				wg.Go(func() {
					if err := follow(w.Context(), e, after, last); err != nil {
						w.Errorf("reader from %d: %v", after, err)
					}
				})
			}
			for range 2 {
				wg.Go(func() {
					for range writes {
						if _, err := e.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x"}); err != nil {
							w.Errorf("create: %v", err)
						}
					}
				})
			}
		}
		wg.Wait()
		report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
		w.OK(err)
		w.Equal(true, report.OK)
	})
}

// TestReplicaHears: an answer on one replica wakes a call that waits on the
// other, and a revocation and a policy reach it.
func TestReplicaHears(t *testing.T) {
	onReplicas(t, func(w *world, other *engine.Engine) {
		token := w.token(fermata.NewToken{Scopes: []fermata.Scope{fermata.ScopeAsk}})
		_, err := other.Authenticate(w.Context(), token.Secret)
		w.OK(err)
		task, q := w.createSuspended(format)
		waited := make(chan error, 2)
		go func() {
			q, err := other.WaitQuestion(w.Context(), w.agent, q.ID, patience.Limit())
			if err == nil && q.Status != fermata.Answered {
				err = fmt.Errorf("the question is %s", q.Status)
			}
			waited <- err
		}()
		go func() {
			claim, err := other.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w2", WaitSeconds: 60})
			if err == nil && claim.Task.ID != task.ID {
				err = fmt.Errorf("claimed %s", claim.Task.ID)
			}
			waited <- err
		}()
		w.answer(q.ID, "toml")
		w.OK(patience.Receive(w, "the wait ends", waited))
		w.OK(patience.Receive(w, "the wait ends", waited))

		before := w.events()
		w.setPolicy(func(p *fermata.Policy) { p.AllowNever = false })
		_, err = w.Engine.RevokeToken(w.Context(), admin, token.ID)
		w.OK(err)
		w.OK(follow(w.Context(), other, before, w.events()))
		_, err = other.Authenticate(w.Context(), token.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		_, err = other.Ask(w.Context(), w.agent, w.task(fermata.NewTask{}).ID, fermata.Ask{Question: "a?", Timeout: fermata.Never})
		w.CheckRefused(err, fermata.CodePolicyViolation)
	})
}
