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
		first, err := w.Engine.CreateTask(with("k", "f"), w.agent, n)
		w.OK(err)
		again, err := w.Engine.CreateTask(with("k", "f"), w.agent, n)
		w.OK(err)
		w.Equal(first.ID, again.ID)
		_, err = w.Engine.CreateTask(with("k", "other"), w.agent, n)
		w.CheckRefused(err, fermata.CodeIdempotencyConflict)
		other := w.agent
		other.TokenID = "tok_other"
		own, err := w.Engine.CreateTask(with("k", "f"), other, n)
		w.OK(err)
		if own.ID == first.ID {
			w.Error("two callers share a key")
		}
		_, err = w.Engine.CreateTask(with("bad", "f"), w.agent, fermata.NewTask{})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, err = w.Engine.CreateTask(with("bad", "f"), w.agent, n)
		w.OK(err)
		tasks, _, err := w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{})
		w.OK(err)
		w.Equal(3, len(tasks))
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
			w.OK(err)
			events := w.events()
			second, err := act(ctx)
			if err != nil {
				w.Fatalf("%s again: %v", name, err)
			}
			w.Equal(first, second)
			w.Equal(events, w.events())
		}
		task := w.task(fermata.NewTask{})
		var c *fermata.Claim
		twice("claim", func(ctx context.Context) (any, error) {
			claim, err := w.Engine.Claim(ctx, w.agent, fermata.ClaimRequest{Worker: "w1"})
			if err != nil {
				return nil, err
			}
			c = claim
			return []string{claim.Task.ID, claim.Run.ID, claim.Context.Text}, nil
		})
		w.say(task.ID, "hello")
		twice("heartbeat", func(ctx context.Context) (any, error) {
			reply, err := w.Engine.Heartbeat(ctx, w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
			if err != nil {
				return nil, err
			}
			return handedTexts(reply.Context), nil
		})
		twice("log", func(ctx context.Context) (any, error) {
			return w.Engine.AppendLog(ctx, w.agent, c.Run.ID, c.Run.Token, "output")
		})
		twice("progress", func(ctx context.Context) (any, error) {
			return nil, w.Engine.ReportRunProgress(ctx, w.agent, c.Run.ID, fermata.Progress{Message: "half", Token: c.Run.Token})
		})
		twice("finish", func(ctx context.Context) (any, error) {
			f := needsInputWith(format)
			f.Token = c.Run.Token
			t, err := w.Engine.Finish(ctx, w.agent, c.Run.ID, f)
			if err != nil {
				return nil, err
			}
			return t.PendingQuestionID, nil
		})
		q := w.checkState(task.ID, fermata.TaskAwaitingInput).PendingQuestionID
		twice("clarify", func(ctx context.Context) (any, error) {
			q, err := w.Engine.Clarify(ctx, w.alice, q, "why?")
			if err != nil {
				return nil, err
			}
			return q.ID, nil
		})
		twice("message", func(ctx context.Context) (any, error) {
			m, err := w.Engine.PostMessage(ctx, w.alice, task.ID, "and?")
			if err != nil {
				return nil, err
			}
			return m.ID, nil
		})
		twice("answer", func(ctx context.Context) (any, error) {
			q, err := w.Engine.Answer(ctx, w.alice, q, fermata.Answer{Answer: "toml"})
			if err != nil {
				return nil, err
			}
			return q.Resolution, nil
		})
		twice("cancel", func(ctx context.Context) (any, error) {
			t, err := w.Engine.CancelTask(ctx, w.alice, task.ID, "")
			if err != nil {
				return nil, err
			}
			return t.State, nil
		})
		twice("token", func(ctx context.Context) (any, error) {
			t, err := w.Engine.CreateToken(ctx, admin, fermata.NewToken{Name: "ci", Scopes: []fermata.Scope{fermata.ScopeAsk}})
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
	head, err := w.Engine.Tail().Head(w.Context(), "default")
	w.OK(err)
	return head
}

func TestOneKeyManyAtOnce(t *testing.T) {
	each(t, func(w *world) {
		var wg sync.WaitGroup
		ids := make([]string, 16)
		for i := range ids {
			wg.Go(func() {
				t, err := w.Engine.CreateTask(engine.WithIdempotency(w.Context(), "k", "f"), w.agent, fermata.NewTask{Title: "x"})
				if err != nil {
					w.Errorf("caller %d: %v", i, err)
					return
				}
				ids[i] = t.ID
			})
		}
		wg.Wait()
		for _, id := range ids {
			w.Equal(ids[0], id)
		}
	})
}
