package engine

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

var plainKind = fermata.TaskKind{Project: "default"}

func joined(ctx context.Context, t *testing.T, m *matchmaker) *waitingClaim {
	t.Helper()
	w, err := m.join(ctx, "w", fermata.ClaimRequest{Worker: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	m.setReady(w, fermata.Caller{}, 1)
	return w
}

func takeTask(w *waitingClaim) string {
	select {
	case o := <-w.offers:
		return o.taskID
	default:
		return "none"
	}
}

// An offer that a claim leaves behind goes to the next one, and a claim whose offer came to nothing keeps its place.
func TestOffersAreNotLost(t *testing.T) {
	t.Parallel()
	m := newMatchmaker(nil, slog.New(slog.DiscardHandler))
	first, second := joined(t.Context(), t, m), joined(t.Context(), t, m)
	m.offer("w", claimOffer{kind: plainKind, taskID: "a"})
	m.leave(first)
	if got := takeTask(second); got != "a" {
		t.Errorf("the second claim got %s, want a", got)
	}
	third := joined(t.Context(), t, m)
	m.rejoin(t.Context(), second)
	m.offer("w", claimOffer{kind: plainKind, taskID: "b"})
	m.offer("w", claimOffer{kind: fermata.TaskKind{Runner: "claude"}, taskID: "c"})
	m.offer("other", claimOffer{kind: plainKind, taskID: "d"})
	if got := takeTask(second) + takeTask(third); got != "bnone" {
		t.Errorf("the second and the third claim got %s, want b and none", got)
	}
	m.leave(second)
	m.leave(third)
	if m.stopLooking != nil || m.waiting != 0 {
		t.Errorf("%d claims wait", m.waiting)
	}
}

// A write takes a task only for a claim that waits, whose call lives and whose rights are known to be current.
func TestWhatAWriteMayTakeATaskFor(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := newMatchmaker(nil, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	w := joined(ctx, t, m)
	if m.reserve("w", plainKind, now, 2) != nil {
		t.Error("a claim was reserved although rights have changed")
	}
	if m.reserve("w", fermata.TaskKind{Project: "default", Isolated: true}, now, 1) != nil {
		t.Error("a claim was reserved for a task that it does not take")
	}
	if m.reserve("w", plainKind, now, 1) != w || m.reserve("w", plainKind, now, 1) != nil {
		t.Error("the claim was not reserved once")
	}
	m.deliver(w, claimOffer{kind: plainKind})
	m.rejoin(t.Context(), w)
	if m.reserve("w", plainKind, now, 1) != nil {
		t.Error("a claim was reserved while it looks for a task itself")
	}
	m.setReady(w, fermata.Caller{}, 1)
	cancel()
	if m.reserve("w", plainKind, now, 1) != nil {
		t.Error("a claim was reserved whose call has ended")
	}
	m.leave(w)
}

// A claim that leaves while a write takes a task for it gets that task.
func TestAClaimLeavesDuringAWrite(t *testing.T) {
	t.Parallel()
	m := newMatchmaker(nil, slog.New(slog.DiscardHandler))
	w := joined(t.Context(), t, m)
	if m.reserve("w", plainKind, time.Now(), 1) != w {
		t.Fatal("the claim was not reserved")
	}
	left := make(chan *fermata.Claim)
	go func() { left <- m.leave(w) }()
	claim := &fermata.Claim{}
	m.deliver(w, claimOffer{kind: plainKind, claim: claim})
	if got := <-left; got != claim {
		t.Errorf("the claim left with %v", got)
	}
}
