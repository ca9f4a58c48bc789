package hook

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// mirrorDialog also puts a permission dialog into the inbox. The first answer decides. If nobody answers in time,
// mirrorDialog writes no reply, and the dialog at the desk decides. An error denies nothing here, because the dialog
// asks a person anyway.
func (h *gateHook) mirrorDialog(ctx context.Context) error {
	if h.Task != "" {
		return nil
	}
	if h.event.Tool == askUserQuestionTool {
		if err := h.mirrorQuestions(ctx); err != nil {
			fmt.Fprintf(h.s.Err, "fermata: only the dialog here decides: %s\n", terminal.OneLine(errorText(err)))
		}
		return nil
	}
	call := h.newGateCall(deskCallPrefix + rand.Text())
	v, err := h.requestVerdict(ctx, call)
	if err == nil {
		v, err = h.withdrawMirrored(ctx, call, v)
	}
	if err == nil && v.Decision == fermata.GateAsk {
		v, err = h.awaitOrWithdraw(ctx, call, v)
	}
	if err == nil && v.Status == fermata.Cancelled {
		// The person that withdrew the question may have stopped the whole
		// session.
		call.DryRun = true
		v, err = h.requestVerdict(ctx, call)
	}
	if err != nil {
		fmt.Fprintf(h.s.Err, "fermata: only the dialog here decides: %s\n", terminal.OneLine(errorText(err)))
		return nil
	}
	if v.Decision == fermata.GateAsk || v.Status == fermata.Pending || v.DecidedBy == fermata.ActorTimeout {
		return nil
	}
	return h.writeReply(h.permissionReply(v))
}

// awaitOrWithdraw waits as awaitVerdict does. If nobody answered, or the person at the desk was faster, it withdraws
// the question, because an answer would have no effect.
func (h *gateHook) awaitOrWithdraw(ctx context.Context, call fermata.GateCall, v *fermata.GateReply) (*fermata.GateReply, error) {
	verdict, err := h.awaitVerdict(ctx, call, v)
	if err == nil && verdict.Decision != fermata.GateAsk {
		return verdict, nil
	}
	// If the person at the desk was faster, the program ends the hook and so
	// ctx. The withdrawal must still be sent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateTimeout)
	defer cancel()
	q, withdrawErr := h.server.Question(ctx, v.QuestionID)
	if withdrawErr == nil && q.Metadata[fermata.GateCallKey] == call.CallID {
		_, withdrawErr = h.server.CancelQuestion(ctx, q.ID, "left to the dialog at the desk")
		if fermata.CodeOf(withdrawErr) == fermata.CodeQuestionClosed {
			// A person has just answered.
			return h.requestVerdict(ctx, call)
		}
	}
	if err == nil {
		err = withdrawErr
	}
	return v, err
}
