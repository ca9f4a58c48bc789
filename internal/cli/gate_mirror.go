package cli

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/fermata-hq/fermata"
)

// mirror also puts a permission dialog into the inbox. The first answer
// decides. If nobody answers in time, mirror writes no reply, and the dialog at
// the desk decides. An error denies nothing here, because the dialog asks a
// person anyway.
func (h *gateHook) mirror(ctx context.Context) error {
	if h.Task != "" {
		return nil
	}
	if h.in.Tool == userQuestions {
		if err := h.mirrorQuestions(ctx); err != nil {
			fmt.Fprintf(h.err, "fermata: only the dialog here decides: %s\n", oneLine(hookError(err)))
		}
		return nil
	}
	call := h.call(deskCall + rand.Text())
	v, err := h.ask(ctx, call)
	if err == nil {
		v, err = h.makeRoom(ctx, call, v)
	}
	if err == nil && v.Decision == fermata.GateAsk {
		v, err = h.awaitBesideDesk(ctx, call, v)
	}
	if err == nil && v.Status == fermata.Cancelled {
		// The person that withdrew the question may have stopped the whole
		// session.
		call.DryRun = true
		v, err = h.ask(ctx, call)
	}
	if err != nil {
		fmt.Fprintf(h.err, "fermata: only the dialog here decides: %s\n", oneLine(hookError(err)))
		return nil
	}
	if v.Decision == fermata.GateAsk || v.Status == fermata.Pending || v.DecidedBy == fermata.ActorTimeout {
		return nil
	}
	return h.say(h.permit(v))
}

// awaitBesideDesk waits as await does. If nobody answered, or the desk was
// faster, it withdraws the question, so that no person answers it in vain.
func (h *gateHook) awaitBesideDesk(ctx context.Context, call fermata.GateCall, v *fermata.GateVerdict) (*fermata.GateVerdict, error) {
	met, err := h.await(ctx, call, v)
	if err == nil && met.Decision != fermata.GateAsk {
		return met, nil
	}
	// If the desk was faster, the program ends the hook and so ctx. The
	// withdrawal must still be sent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateWithin)
	defer cancel()
	q, lost := h.server.Question(ctx, v.QuestionID)
	if lost == nil && q.Metadata[fermata.GateCallKey] == call.CallID {
		_, lost = h.server.CancelQuestion(ctx, q.ID, "left to the dialog at the desk")
		if fermata.CodeOf(lost) == fermata.CodeQuestionClosed {
			// A person has just answered.
			return h.ask(ctx, call)
		}
	}
	if err == nil {
		err = lost
	}
	return v, err
}
