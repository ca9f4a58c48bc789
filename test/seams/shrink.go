package seams

import (
	"context"
	"time"
)

// tries is how often a shorter sequence is played before it counts as not breaking the law. More than one is needed,
// because a sequence does not determine the order in which processes run.
const tries = 2

// Shrink leaves out steps of a sequence as long as the rest still breaks the law. It stops after the time within.
func (w *World) Shrink(ctx context.Context, q Sequence, law string, within time.Duration) Sequence {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for size := len(q) / 2; size > 0; {
		shorter, ok := w.leaveOut(ctx, q, law, size)
		switch {
		case ctx.Err() != nil:
			return q
		case ok:
			q = shorter
			size = min(size, max(1, len(q)/2))
		default:
			size /= 2
		}
	}
	return w.simplify(ctx, q, law)
}

// leaveOut looks for size steps in a row that are not needed.
func (w *World) leaveOut(ctx context.Context, q Sequence, law string, size int) (Sequence, bool) {
	for end := len(q); end > 0; end -= size {
		shorter := q.without(max(0, end-size), end)
		if len(shorter) > 0 && len(shorter) < len(q) && w.isBreaking(ctx, shorter, law) {
			return shorter, true
		}
	}
	return nil, false
}

// simplify removes the special marks of steps if they do not matter.
func (w *World) simplify(ctx context.Context, q Sequence, law string) Sequence {
	for i := range q {
		for _, change := range []func(*Step){
			func(s *Step) { s.Beside = false },
			func(s *Step) { s.Now = false },
			func(s *Step) { s.N = 0 },
		} {
			next := q.without(len(q), len(q))
			change(&next[i])
			if next[i] != q[i] && w.isBreaking(ctx, next, law) {
				q = next
			}
		}
	}
	return q
}

// isBreaking reports whether the sequence breaks the law when it is played.
func (w *World) isBreaking(ctx context.Context, q Sequence, law string) bool {
	for range tries {
		c := w.Play(ctx, Replay(q))
		broken := c.Check()
		w.Forget(c)
		if ctx.Err() != nil {
			return false
		}
		for _, b := range broken {
			if b.Name == law {
				return true
			}
		}
	}
	return false
}
