package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// callOf returns a call of the run, which a rule of the workspace allows.
func callOf(c *fermata.Claim, command string) fermata.GateCall {
	call := bash("", "", command)
	call.TaskID, call.RunID = c.Task.ID, c.Run.ID
	return call
}

// checkDenied checks that the call is denied because its task was stopped, also in a
// dry run.
func (w *world) checkDenied(call fermata.GateCall, why string) {
	w.Helper()
	for _, dry := range []bool{false, true} {
		call.DryRun = dry
		v := w.gate(call, fermata.GateDeny)
		w.Equal(fermata.ActorSystem, v.DecidedBy)
		if !strings.Contains(v.Reason, why) {
			w.Fatalf("the reason is %q, want %q", v.Reason, why)
		}
	}
}

func TestNoRuleLetsACallOfAStoppedTaskThrough(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Bash", Decision: fermata.GateAllow})
		c := w.createRunning(fermata.NewTask{Title: "build"})
		call := callOf(c, "make")
		w.gate(call, fermata.GateAllow)
		w.cancel(c.Task.ID)
		w.checkDenied(call, "cancelled")
		call.RunID = ""
		w.checkDenied(call, "cancelled")
		// After the reopening, the task belongs to another run.
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, c.Task.ID)
		w.OK(err)
		second := w.claimTask(c.Task.ID)
		w.checkDenied(callOf(c, "make"), c.Run.ID)
		w.gate(callOf(second, "make"), fermata.GateAllow)
		w.complete(second)
		w.checkDenied(callOf(second, "make"), "done")
	})
}

func TestARunWithoutItsLeaseMayCallNothing(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Bash", Decision: fermata.GateAllow})
		c := w.createRunning(fermata.NewTask{Title: "build"})
		w.Clock.Advance(fermata.DefaultLease)
		w.checkDenied(callOf(c, "make"), "lease")
		w.sweep(time.Second)
		w.checkDenied(callOf(c, "make"), "lease")
	})
}

func TestAnApprovalOfAStoppedTaskIsNotUsed(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "deploy"})
		v := w.gate(callOf(c, "deploy"), fermata.GateAsk)
		_, err := w.approve(w.alice, w.checkQuestion(v.QuestionID, fermata.Pending), fermata.Approve)
		w.OK(err)
		w.cancel(c.Task.ID)
		w.checkDenied(callOf(c, "deploy"), "cancelled")
	})
}

func TestAGrantOfAStoppedTaskIsRefused(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		q := w.checkQuestion(a.QuestionID, fermata.Answered)
		w.cancel(q.TaskID)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, removeOld)))
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, q.TaskID)
		w.OK(err)
		second := w.claimTask(q.TaskID)
		old := fermata.GrantCheck{Grant: a.Grant, Action: []byte(removeOld), RunID: "run_0"}
		_, err = w.Engine.VerifyGrant(w.Context(), w.agent, old)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(err))
		old.RunID = second.Run.ID
		_, err = w.Engine.VerifyGrant(w.Context(), w.agent, old)
		w.OK(err)
	})
}

func TestAStoppedRunSaysWhereItsWorkIs(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "build"})
		place := fermata.Session{ID: "s-1", Runner: "claude", Dir: "/work/copy", Branch: "fermata/x", Worker: "w1"}
		_, err := w.Engine.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token, Session: &place})
		w.OK(err)
		_, err = w.Engine.AppendLog(w.Context(), w.agent, c.Run.ID, c.Run.Token, "compiling\n")
		w.OK(err)
		w.cancel(c.Task.ID)
		run, err := w.Engine.Run(w.Context(), w.alice, c.Run.ID)
		w.OK(err)
		w.Equal("stopped: the task was cancelled by "+w.alice.Name, run.Summary)
		var left fermata.PartialWork
		w.OK(json.Unmarshal(run.Details, &left))
		w.Equal(place, left.PartialWork)
		chunks, _, _, err := w.Engine.Log(w.Context(), w.alice, c.Run.ID, 0, 0)
		w.OK(err)
		w.Equal("compiling\n", chunks[0].Text)
		w.Equal("fermata: The run was stopped: the task was cancelled by "+w.alice.Name+
			". What it had not committed stays in /work/copy, branch fermata/x, claude session s-1, at the worker w1.\n", chunks[1].Text)
	})
}

// The questions of a cancelled task name the person who cancelled it, also if this person cancelled its parent.
func TestAWithdrawnQuestionNamesWhoCancelled(t *testing.T) {
	each(t, func(w *world) {
		parent := w.task(fermata.NewTask{Title: "house", Runner: fermata.RunnerExternal})
		c := w.createRunning(fermata.NewTask{Title: "roof", ParentID: parent.ID})
		q := w.ask(c.Task.ID, fermata.Ask{Question: "Which tiles?"})
		w.cancel(parent.ID)
		r := w.checkQuestion(q.ID, fermata.Cancelled).Resolution
		w.Equal([]any{fermata.ActorHuman, w.alice.Name, "the task was cancelled: not needed"}, []any{r.DecidedBy, r.AnsweredBy.Name, r.Comment})
		if r.TaskEnded != "" || !strings.Contains(r.Sentence(), "cancelled by "+w.alice.Name) {
			w.Fatal(r.Sentence())
		}
	})
}

// A run that fails withdraws its own questions.
func TestAFailedRunWithdrawsItsQuestion(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		q := w.ask(c.Task.ID, fermata.Ask{Question: "Which colour?"})
		w.finish(c, fermata.Finish{Result: fermata.ResultFailed})
		r := w.checkQuestion(q.ID, fermata.Cancelled).Resolution
		w.Equal([]any{fermata.ActorAgent, w.agent.Name, "", fermata.TaskFailed}, []any{r.DecidedBy, r.AnsweredBy.Name, r.Comment, r.TaskEnded})
		if words := r.Sentence(); strings.Contains(words, w.agent.Name) || !strings.Contains(words, "when its task ended as failed") {
			w.Errorf("the question was %s", words)
		}
	})
}
