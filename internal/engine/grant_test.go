package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

const removeOld = `{"command":"rm -r old"}`

// approveAction asks for an action, approves it, and returns the answer that the next
// run is handed.
func (w *world) approveAction(edit string) fermata.ResumeAnswer {
	w.Helper()
	task, q := w.createSuspended(fermata.Ask{Question: "Run it?", Action: json.RawMessage(removeOld)})
	_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{
		Answer: fermata.Approve, ActionHash: q.ActionHash, Action: json.RawMessage(edit),
	})
	w.OK(err)
	return w.claimTask(task.ID).Context.Questions[0]
}

func (w *world) verify(grant, action string) error {
	_, err := w.Engine.VerifyGrant(w.Context(), w.agent, fermata.GrantCheck{Grant: grant, Action: json.RawMessage(action)})
	return err
}

func TestAGrantIsUsedOnce(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		w.Equal(removeOld, string(a.Action))
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, `{"command":"rm -r /"}`)))
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant+"x", removeOld)))
		w.OK(w.verify(a.Grant, ` { "command" : "rm -r old" } `))
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, removeOld)))
	})
}

func TestAGrantOfAnEditIsOfTheEditAlone(t *testing.T) {
	each(t, func(w *world) {
		const edited = `{"command":"rm -ri old"}`
		a := w.approveAction(edited)
		w.Equal(edited, string(a.Action))
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, removeOld)))
		w.OK(w.verify(a.Grant, edited))
	})
}

func TestAGrantExpires(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		w.Clock.Advance(fermata.GrantLifetime)
		err := w.verify(a.Grant, removeOld)
		if err == nil || !strings.Contains(err.Error(), "expired") {
			w.Fatal(err)
		}
	})
}

func TestARejectionGivesNoGrant(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(fermata.Ask{Question: "Run it?", Action: json.RawMessage(removeOld)})
		_, err := w.approve(w.alice, q, fermata.Reject)
		w.OK(err)
		w.Equal("", w.claimTask(task.ID).Context.Questions[0].Grant)
	})
}

// TestAGrantIsUsedOnceAlsoByTheEvents: a grant cannot be used again after the record of its use was deleted from the
// database.
func TestAGrantIsUsedOnceAlsoByTheEvents(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		w.OK(w.verify(a.Grant, removeOld))
		w.forge("DELETE FROM grants_used")
		w.CheckRefused(w.verify(a.Grant, removeOld), fermata.CodeForbidden)

		call := bash("s1", "c1", "git push")
		v := w.gate(call, fermata.GateAsk)
		_, err := w.approve(w.alice, w.checkQuestion(v.QuestionID, fermata.Pending), fermata.Approve)
		w.OK(err)
		w.gate(call, fermata.GateAllow)
		w.forge("DELETE FROM grants_used")
		again := w.gate(call, fermata.GateAsk)
		if again.QuestionID == v.QuestionID {
			w.Error("the approval was used twice")
		}
	})
}

// TestAnEditIsRefusedWhereNobodyCouldUseIt: some edits are refused at once, and the question stays open: an edit to
// another call, an edit that a rule denies, and an edit for which the rules need a stronger sign-in.
func TestAnEditIsRefusedWhereNobodyCouldUseIt(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": "rm *"}, Decision: fermata.GateDeny})
		w.rule(fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": "deploy *"}, Decision: fermata.GateAsk, Risk: fermata.RiskCritical})
		call := bash("s1", "c1", "git push")
		q := w.checkQuestion(w.gate(call, fermata.GateAsk).QuestionID, fermata.Pending)
		approve := func(undo bool, action string) error {
			_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash, Action: json.RawMessage(action), Undo: undo})
			return err
		}
		for action, code := range map[string]fermata.Code{
			`{"tool":"Write","input":{"file_path":"a"},"dir":"/work"}`:     fermata.CodeInvalidRequest,
			`{"tool":"Bash","input":{"command":"git push"},"dir":"/etc"}`:  fermata.CodeInvalidRequest,
			`{"tool":"Bash","input":{"command":"git push"}}`:               fermata.CodeInvalidRequest,
			`{"tool":"Bash","input":"git push","dir":"/work"}`:             fermata.CodeInvalidRequest,
			`{"command":"git push"}`:                                       fermata.CodeInvalidRequest,
			`{"tool":"Bash","input":{"command":"rm a"},"dir":"/work"}`:     fermata.CodePolicyViolation,
			`{"tool":"Bash","input":{"command":"deploy a"},"dir":"/work"}`: fermata.CodePolicyViolation,
		} {
			w.CheckRefused(approve(false, action), code)
			w.CheckRefused(approve(true, action), code)
		}
		w.checkQuestion(q.ID, fermata.Pending)
		w.OK(approve(false, `{"tool":"Bash","input":{"command":"git push --dry-run"},"dir":"/work"}`))
	})
}

func TestAnEditedCallRunsAsEdited(t *testing.T) {
	each(t, func(w *world) {
		call := bash("s1", "c1", "git push")
		v := w.gate(call, fermata.GateAsk)
		q := w.checkQuestion(v.QuestionID, fermata.Pending)
		edit := json.RawMessage(`{"tool":"Bash","input":{"command":"git push --dry-run"},"dir":"/work"}`)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash, Action: edit})
		w.OK(err)
		w.Equal(`{"command":"git push --dry-run"}`, string(w.gate(call, fermata.GateAllow).Input))
	})
}

// TestARepeatedCallGivesNoGrantForAnEndedTask: the reply to a repeated call shows the present state.
func TestARepeatedCallGivesNoGrantForAnEndedTask(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		ctx, check := engine.WithIdempotency(w.Context(), "key", "f"), fermata.GrantCheck{Grant: a.Grant, Action: a.Action}
		for range 2 {
			_, err := w.Engine.VerifyGrant(ctx, w.agent, check)
			w.OK(err)
		}
		q, err := w.Engine.Question(w.Context(), w.alice, a.QuestionID)
		w.OK(err)
		_, err = w.Engine.CancelTask(w.Context(), w.alice, q.TaskID, "stop")
		w.OK(err)
		_, err = w.Engine.VerifyGrant(ctx, w.agent, check)
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}
