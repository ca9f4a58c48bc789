package engine

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

type idempotencyKey struct{}

type idempotency struct{ key, fingerprint string }

// WithIdempotency makes the next write in ctx happen once: a later write with
// the same key and fingerprint by the same caller returns the first one's
// result, one with another fingerprint is refused with
// [fermata.CodeIdempotencyConflict].
func WithIdempotency(ctx context.Context, key, fingerprint string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, idempotency{key, fingerprint})
}

// write runs fn in a transaction of the caller's workspace, once for an
// idempotency key.
func write[T any](ctx context.Context, e *Engine, c fermata.Caller, fn func(tx *store.Tx) (T, error)) (T, error) {
	var out T
	once, _ := ctx.Value(idempotencyKey{}).(idempotency)
	caller := string(c.Kind) + ":" + c.Actor().ID
	err := e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		var fresh T
		out = fresh
		if once.key != "" {
			done, err := replay(tx, caller, once, &out)
			if done || err != nil {
				return err
			}
		}
		v, err := fn(tx)
		if err != nil {
			return err
		}
		out = v
		if once.key == "" {
			return nil
		}
		return remember(tx, caller, once, v)
	})
	return out, err
}

func replay(tx *store.Tx, caller string, once idempotency, out any) (bool, error) {
	earlier, found, err := tx.Replay(caller, once.key)
	if err != nil || !found {
		return false, err
	}
	if earlier.Fingerprint != once.fingerprint {
		return false, fermata.Errorf(fermata.CodeIdempotencyConflict, "the idempotency key %q was used for another request", once.key).
			WithHint("use a new key for a new request")
	}
	if err := json.Unmarshal([]byte(earlier.Result), out); err != nil {
		return false, fermata.Internal("read what an earlier call came to", err)
	}
	return true, nil
}

func remember(tx *store.Tx, caller string, once idempotency, v any) error {
	result, err := json.Marshal(v)
	if err != nil {
		return fermata.Internal("keep what a call came to", err)
	}
	tx.Remember(caller, once.key, store.Replay{Fingerprint: once.fingerprint, Result: string(result)})
	return nil
}
