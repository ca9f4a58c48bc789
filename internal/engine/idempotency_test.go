package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

func TestIdempotentWrites(t *testing.T) {
	each(t, func(w *world) {
		with := func(key, fingerprint string) context.Context {
			return engine.WithIdempotency(w.Context(), key, fingerprint)
		}
		n := fermata.NewTask{Title: "paint"}
		first, err := w.e.CreateTask(with("k", "f"), w.agent, n)
		w.ok(err)
		again, err := w.e.CreateTask(with("k", "f"), w.agent, n)
		w.ok(err)
		w.equal(first.ID, again.ID)
		_, err = w.e.CreateTask(with("k", "other"), w.agent, n)
		w.checkRefused(err, fermata.CodeIdempotencyConflict)
		other := w.agent
		other.TokenID = "tok_other"
		own, err := w.e.CreateTask(with("k", "f"), other, n)
		w.ok(err)
		if own.ID == first.ID {
			w.Error("two callers share a key")
		}
		_, err = w.e.CreateTask(with("bad", "f"), w.agent, fermata.NewTask{})
		w.checkRefused(err, fermata.CodeInvalidRequest)
		_, err = w.e.CreateTask(with("bad", "f"), w.agent, n)
		w.ok(err)
		tasks, _, err := w.e.Tasks(w.Context(), w.alice, engine.TaskFilter{})
		w.ok(err)
		w.equal(3, len(tasks))
	})
}

// TestIdempotentVerbs: each verb has its effect once, and a repeated call gets
// the same reply again.
func TestIdempotentVerbs(t *testing.T) {
	each(t, func(w *world) {
		twice := func(name string, act func(ctx context.Context) (any, error)) {
			w.Helper()
			ctx := engine.WithIdempotency(w.Context(), name, name)
			first, err := act(ctx)
			w.ok(err)
			events := w.events()
			second, err := act(ctx)
			if err != nil {
				w.Fatalf("%s again: %v", name, err)
			}
			w.equal(first, second)
			w.equal(events, w.events())
		}
		task := w.task(fermata.NewTask{})
		var c *fermata.Claim
		twice("claim", func(ctx context.Context) (any, error) {
			claim, err := w.e.Claim(ctx, w.agent, fermata.ClaimRequest{Worker: "w1"})
			if err != nil {
				return nil, err
			}
			c = claim
			return []string{claim.Task.ID, claim.Run.ID, claim.Context.Text}, nil
		})
		w.say(task.ID, "hello")
		twice("heartbeat", func(ctx context.Context) (any, error) {
			reply, err := w.e.Heartbeat(ctx, w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
			if err != nil {
				return nil, err
			}
			return handedTexts(reply.Context), nil
		})
		twice("log", func(ctx context.Context) (any, error) {
			return w.e.AppendLog(ctx, w.agent, c.Run.ID, c.Run.Token, "output")
		})
		twice("progress", func(ctx context.Context) (any, error) {
			return nil, w.e.ReportRunProgress(ctx, w.agent, c.Run.ID, fermata.Progress{Message: "half", Token: c.Run.Token})
		})
		twice("finish", func(ctx context.Context) (any, error) {
			f := needsInputWith(format)
			f.Token = c.Run.Token
			t, err := w.e.Finish(ctx, w.agent, c.Run.ID, f)
			if err != nil {
				return nil, err
			}
			return t.PendingQuestionID, nil
		})
		q := w.checkState(task.ID, fermata.TaskAwaitingInput).PendingQuestionID
		twice("clarify", func(ctx context.Context) (any, error) {
			q, err := w.e.Clarify(ctx, w.alice, q, "why?")
			if err != nil {
				return nil, err
			}
			return q.ID, nil
		})
		twice("message", func(ctx context.Context) (any, error) {
			m, err := w.e.PostMessage(ctx, w.alice, task.ID, "and?")
			if err != nil {
				return nil, err
			}
			return m.ID, nil
		})
		twice("answer", func(ctx context.Context) (any, error) {
			q, err := w.e.Answer(ctx, w.alice, q, fermata.Answer{Answer: "toml"})
			if err != nil {
				return nil, err
			}
			return q.Resolution, nil
		})
		twice("cancel", func(ctx context.Context) (any, error) {
			t, err := w.e.CancelTask(ctx, w.alice, task.ID, "")
			if err != nil {
				return nil, err
			}
			return t.State, nil
		})
		twice("token", func(ctx context.Context) (any, error) {
			t, err := w.e.CreateToken(ctx, admin, fermata.NewToken{Name: "ci", Scopes: []fermata.Scope{fermata.ScopeAsk}})
			if err != nil {
				return nil, err
			}
			return t.ID, nil
		})
	})
}

// events counts the workspace's events.
func (w *world) events() int64 {
	w.Helper()
	head, err := w.e.Tail().Head(w.Context(), "default")
	w.ok(err)
	return head
}

func TestOneKeyManyAtOnce(t *testing.T) {
	each(t, func(w *world) {
		var wg sync.WaitGroup
		ids := make([]string, 16)
		for i := range ids {
			wg.Go(func() {
				t, err := w.e.CreateTask(engine.WithIdempotency(w.Context(), "k", "f"), w.agent, fermata.NewTask{Title: "x"})
				if err != nil {
					w.Errorf("caller %d: %v", i, err)
					return
				}
				ids[i] = t.ID
			})
		}
		wg.Wait()
		for _, id := range ids {
			w.equal(ids[0], id)
		}
	})
}
