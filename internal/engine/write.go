package engine

import (
	"context"
	"errors"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

type idempotencyKey struct{}

type idempotency struct{ key, fingerprint string }

// WithIdempotency makes the next write in ctx happen once. A later write with
// the same key and fingerprint by the same caller returns the first result. A
// write with another fingerprint is refused with
// [fermata.CodeIdempotencyConflict]. An empty key removes the key of ctx.
func WithIdempotency(ctx context.Context, key, fingerprint string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, idempotency{key, fingerprint})
}

// idempotencyOf returns the key of the next write in ctx. The key is empty if there is none.
func idempotencyOf(ctx context.Context) idempotency {
	idem, _ := ctx.Value(idempotencyKey{}).(idempotency)
	return idem
}

// write runs fn in a transaction of the caller's workspace, once for an
// idempotency key. fn must check the permission of the caller. For a replay,
// write checks the permission for v.
func write[T any](ctx context.Context, e *Engine, c fermata.Caller, v fermata.Verb, fn func(tx *store.Tx) (T, error), ahead ...store.ReadAhead) (T, error) {
	var out T
	var refusal error
	idem := idempotencyOf(ctx)
	caller := idempotentCaller(c)
	err := e.writeAndClaim(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		var zero T
		out, refusal = zero, nil
		if idem.key != "" {
			earlier, done, err := replay[T](tx, c, v, caller, idem)
			if done || err != nil {
				out = earlier
				return err
			}
		}
		result, err := fn(tx)
		var late tooLateError
		if errors.As(err, &late) {
			refusal = late.error
			return nil
		}
		if err != nil {
			return err
		}
		out = result
		if idem.key == "" {
			return nil
		}
		return storeResult(tx, caller, idem, result)
	}, ahead...)
	if err == nil {
		err = refusal
	}
	if q, ok := any(&out).(**fermata.Question); ok {
		*q = (*q).ViewFor(c)
	}
	return out, err
}

// idempotentCaller returns the text under which the idempotency keys of a caller are stored.
func idempotentCaller(c fermata.Caller) string { return string(c.Kind) + ":" + c.Actor().ID }

// isRepeated reports whether a write with the idempotency key in ctx has been committed. Such a call must reach [write],
// which returns the first result.
func (e *Engine) isRepeated(ctx context.Context, c fermata.Caller) (bool, error) {
	idem := idempotencyOf(ctx)
	if idem.key == "" {
		return false, nil
	}
	_, found, err := e.reader(ctx, c).Replay(idempotentCaller(c), idem.key)
	return found, err
}

// Write runs fn in a transaction of the caller's workspace, once for the
// idempotency key in ctx. Other packages use it to change their own data.
func Write[T any](ctx context.Context, e *Engine, c fermata.Caller, v fermata.Verb, fn func(tx *store.Tx) (T, error)) (T, error) {
	return write(ctx, e, c, v, fn)
}

// tooLateError refuses a call because a deadline or a held answer settled the
// question first, in the same transaction. The transaction is still committed,
// so that the settlement is saved.
type tooLateError struct{ error }

// wrapTooLate returns the refusal of a call. If the transaction settled a question before the call, and the call itself
// appended nothing, it returns a tooLateError, so that the settlement is saved.
func wrapTooLate(tx *store.Tx, appendedBefore int, err error) error {
	if err != nil && appendedBefore > 0 && tx.AppendedCount() == appendedBefore {
		return tooLateError{err}
	}
	return err
}
