package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestSecondPendingQuestionIsRefused(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		_, err := w.Engine.Ask(w.Context(), w.agent, task.ID, fermata.Ask{Question: "And?"})
		w.CheckRefused(err, fermata.CodePendingQuestionExists)
		running := w.createRunning(fermata.NewTask{})
		w.ask(running.Task.ID, format)
		_, err = w.Engine.Ask(w.Context(), w.agent, running.Task.ID, fermata.Ask{Question: "And?"})
		w.CheckRefused(err, fermata.CodePendingQuestionExists)
		_, err = w.tryFinish(running, needsInputWith(fermata.Ask{Question: "And?"}))
		w.CheckRefused(err, fermata.CodePendingQuestionExists)
		w.checkQuestion(q.ID, fermata.Pending)
	})
}

func TestNonBlockingIsNotLimited(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		nonBlocking := fermata.Ask{Type: fermata.NonBlocking, Question: "a?", Default: "b"}
		first, second := w.ask(c.Task.ID, nonBlocking), w.ask(c.Task.ID, nonBlocking)
		w.ask(c.Task.ID, format)
		w.checkState(c.Task.ID, fermata.TaskInProgress)
		w.answer(first.ID, "c")
		w.Equal([]string{"answered: a?"}, handedTexts(w.heartbeat(c).Context))
		w.complete(c)
		w.checkQuestion(second.ID, fermata.Cancelled)
	})
}

func TestAskSuspendsAnOpenTask(t *testing.T) {
	each(t, func(w *world) {
		for typ, state := range map[fermata.QuestionType]fermata.TaskState{
			fermata.Blocking: fermata.TaskAwaitingInput, fermata.ErrorRecovery: fermata.TaskAwaitingInput, fermata.Approval: fermata.TaskAwaitingApproval,
		} {
			task := w.task(fermata.NewTask{})
			q := w.ask(task.ID, fermata.Ask{Type: typ, Question: "Go on?"})
			w.Equal(q.ID, w.checkState(task.ID, state).PendingQuestionID)
		}
	})
}

func TestEndedAndBlockedTasksDoNotAsk(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		blocked := w.task(fermata.NewTask{BlockedBy: []string{c.Task.ID}})
		_, err := w.Engine.Ask(w.Context(), w.agent, blocked.ID, format)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		w.cancel(c.Task.ID)
		_, err = w.Engine.Ask(w.Context(), w.agent, c.Task.ID, format)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
	})
}

func TestNextRunReplacesTheQuestion(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.say(task.ID, "what do you mean?")
		c := w.claimTask(task.ID)
		next := w.checkQuestion(w.finish(c, needsInputWith(fermata.Ask{Question: "Which file format?", Type: fermata.Approval})).PendingQuestionID, fermata.Pending)
		old := w.checkQuestion(q.ID, fermata.Cancelled)
		w.Equal(fermata.ActorAgent, old.Resolution.DecidedBy)
		w.Equal(next.ID, w.checkState(task.ID, fermata.TaskAwaitingApproval).PendingQuestionID)
		w.Equal(1, w.closings(q.ID))
	})
}

func TestAskedAgainIsCounted(t *testing.T) {
	for name, a := range map[string]fermata.Ask{
		"dedupe key": {Question: "a?", DedupeKey: "k"},
		"action":     {Question: "Run it?", Action: json.RawMessage(`{"command":"deploy"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				a := a // both databases change it
				task, q := w.createSuspended(a)
				a.Title = "another title"
				again := w.ask(task.ID, a)
				w.Equal(q.ID, again.ID)
				w.Equal(2, w.checkQuestion(q.ID, fermata.Pending).AskCount)
				w.say(task.ID, "hm")
				got := w.finish(w.claimTask(task.ID), needsInputWith(a))
				w.Equal(q.ID, got.PendingQuestionID)
				w.Equal(3, w.checkQuestion(q.ID, fermata.Pending).AskCount)
				_, err := w.Engine.CancelQuestion(w.Context(), w.alice, q.ID, "")
				w.OK(err)
				if next := w.checkQuestion(w.finish(w.claimTask(task.ID), needsInputWith(a)).PendingQuestionID, fermata.Pending); next.ID == q.ID {
					w.Error("a closed question was asked again")
				}
			})
		})
	}
}

// TestAnotherAskingIsAskedAnew: a pending approval of the same action does not count for a question that asks other
// people, asks more of them, or has another asker.
func TestAnotherAskingIsAskedAnew(t *testing.T) {
	action := json.RawMessage(`{"command":"deploy"}`)
	weak := fermata.Ask{Question: "ok?", Type: fermata.Approval, Action: action, Assignees: []string{"alice"}}
	for name, tt := range map[string]struct {
		change func(a *fermata.Ask)
		by     func(w *world) fermata.Caller
		want   fermata.Code
	}{
		"another title":   {func(a *fermata.Ask) { a.Title = "Please?" }, nil, ""},
		"other people":    {func(a *fermata.Ask) { a.Assignees = nil }, nil, fermata.CodePendingQuestionExists},
		"more people":     {func(a *fermata.Ask) { a.Approvals = &fermata.Quorum{Required: 1} }, nil, fermata.CodePendingQuestionExists},
		"a higher risk":   {func(a *fermata.Ask) { a.Risk = fermata.RiskHigh }, nil, fermata.CodePendingQuestionExists},
		"another asker":   {func(*fermata.Ask) {}, askingAlice, fermata.CodePendingQuestionExists},
		"another silence": {func(a *fermata.Ask) { a.OnTimeout = fermata.SkipTask }, nil, fermata.CodePendingQuestionExists},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				task, q := w.createSuspended(weak)
				a, by := weak, w.agent
				tt.change(&a)
				if tt.by != nil {
					by = tt.by(w)
				}
				again, err := w.Engine.Ask(w.Context(), by, task.ID, a)
				if tt.want != "" {
					w.CheckRefused(err, tt.want)
					return
				}
				w.OK(err)
				w.Equal(q.ID, again.ID)
			})
		})
	}
}

func TestIdempotencyKeyOfAsk(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.IdempotencyKey = "k1"
		task, q := w.createSuspended(a)
		w.Equal(q.ID, w.ask(task.ID, a).ID)
		w.Equal(1, w.checkQuestion(q.ID, fermata.Pending).AskCount)
		changed := a
		changed.Question = "Which name?"
		_, err := w.Engine.Ask(w.Context(), w.agent, task.ID, changed)
		w.CheckRefused(err, fermata.CodeIdempotencyConflict)
		_, err = w.Engine.Ask(w.Context(), w.agent, w.task(fermata.NewTask{}).ID, a)
		w.CheckRefused(err, fermata.CodeIdempotencyConflict)
		w.answer(q.ID, "toml")
		w.Equal(fermata.Answered, w.ask(task.ID, a).Status)
		bad := a
		bad.IdempotencyKey = "\x00"
		_, err = w.Engine.Ask(w.Context(), w.agent, task.ID, bad)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

// TestKeyOfAClosedQuestionSuspendsOnNothing: a task must not wait for an answer
// that it got already, nor run again and again because of it.
func TestKeyOfAClosedQuestionSuspendsOnNothing(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.IdempotencyKey = "k1"
		task, q := w.createSuspended(a)
		w.answer(q.ID, "toml")
		_, err := w.tryFinish(w.claimTask(task.ID), needsInputWith(a))
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		w.checkState(task.ID, fermata.TaskInProgress)
	})
}

func TestDangerousDefaults(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		danger := fermata.Ask{Question: "Drop it?", Options: []fermata.Option{{Value: "yes", Danger: true}, {Value: "no"}}, Default: "yes"}
		silence := fermata.Ask{Type: fermata.Approval, Question: "Deploy?", Default: fermata.Approve, OnTimeout: fermata.TakeDefault}
		for _, a := range []fermata.Ask{danger, silence} {
			_, err := w.Engine.Ask(w.Context(), w.agent, task.ID, a)
			w.CheckRefused(err, fermata.CodePolicyViolation)
		}
		danger.AllowDangerDefault = true
		q := w.ask(task.ID, danger)
		_, err := w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
		w.OK(err)
		// The asker cannot let silence approve.
		silence.AllowDangerDefault = true
		_, err = w.Engine.Ask(w.Context(), w.agent, task.ID, silence)
		w.CheckRefused(err, fermata.CodePolicyViolation)
		_, err = w.Engine.Ask(w.Context(), w.agent, task.ID, fermata.Ask{Question: "a?", OnTimeout: fermata.TakeDefault})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

func TestNeedsInputAsksTheSummary(t *testing.T) {
	long := "Which one?\n" + strings.Repeat("x", 4050)
	for name, c := range map[string]struct{ summary, question, body string }{
		"a sentence": {" Which one? \n", "Which one?", ""},
		"too long":   {long, "Which one?", long},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				got := w.finish(w.createRunning(fermata.NewTask{}), fermata.Finish{Result: fermata.ResultNeedsInput, Summary: c.summary})
				q := w.checkQuestion(got.PendingQuestionID, fermata.Pending)
				w.Equal(c.question, q.Items[0].Prompt)
				w.Equal(c.body, q.Body)
			})
		})
	}
	t.Run("nothing to ask", func(t *testing.T) {
		each(t, func(w *world) {
			_, err := w.tryFinish(w.createRunning(fermata.NewTask{}), fermata.Finish{Result: fermata.ResultNeedsInput, Summary: " \n"})
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		})
	})
	t.Run("the question that is pending is not asked again", func(t *testing.T) {
		each(t, func(w *world) {
			c := w.createRunning(fermata.NewTask{})
			q := w.ask(c.Task.ID, fermata.Ask{Question: "Which colour?"})
			w.Equal(q.ID, w.finish(c, fermata.Finish{Result: fermata.ResultNeedsInput, Summary: "Which one?"}).PendingQuestionID)
		})
	})
}

func TestOwnAnswersToAgents(t *testing.T) {
	strict := fermata.Ask{Question: "Which?", Options: []fermata.Option{{Value: "a"}, {Value: "b"}}}
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		q := w.ask(c.Task.ID, strict)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "neither"})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		q = w.checkQuestion(w.finish(w.createRunning(fermata.NewTask{}), needsInputWith(strict)).PendingQuestionID, fermata.Pending)
		_, err = w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "neither"})
		w.OK(err)
	})
}

// TestUnsureButAPersonWrote: a task with words that no run was handed is not set aside.
func TestUnsureButAPersonWrote(t *testing.T) {
	each(t, func(w *world) {
		w.setPolicy(func(p *fermata.Policy) { p.AskConfidence = ptr(50) })
		unsure := fermata.Ask{Question: "Which?", Options: []fermata.Option{{Value: "a"}}, Default: "a", Confidence: ptr(10)}
		c := w.createRunning(fermata.NewTask{})
		w.say(c.Task.ID, "take b")
		w.Equal(fermata.TaskInputReceived, w.finish(c, needsInputWith(unsure)).State)
		next := w.claimTask(c.Task.ID)
		w.Equal([]string{"take b"}, handedTexts(next.Context))
		w.Equal("Which?", next.Context.Pending.Title)
	})
}

func TestConfidence(t *testing.T) {
	guess := fermata.Ask{Question: "Which?", Options: []fermata.Option{{Value: "a"}, {Value: "b", Danger: true}}, Default: "a", Timeout: fermata.Never}
	with := func(confidence int, change func(a *fermata.Ask)) fermata.Ask {
		a := guess
		a.Confidence = &confidence
		if change != nil {
			change(&a)
		}
		return a
	}
	dangerous := func(a *fermata.Ask) { a.Default, a.AllowDangerDefault = "b", true }
	approval := func(a *fermata.Ask) {
		*a = fermata.Ask{Type: fermata.Approval, Question: "Go?", Confidence: a.Confidence}
	}
	for name, c := range map[string]struct {
		ask  fermata.Ask
		want fermata.TaskState
	}{
		"sure":              {with(80, nil), fermata.TaskInputReceived},
		"between":           {with(79, nil), fermata.TaskAwaitingInput},
		"enough to ask":     {with(50, nil), fermata.TaskAwaitingInput},
		"unsure":            {with(49, nil), fermata.TaskSkipped},
		"sure of an evil":   {with(100, dangerous), fermata.TaskAwaitingInput},
		"sure of approval":  {with(100, approval), fermata.TaskAwaitingApproval},
		"unsure, approval":  {with(0, approval), fermata.TaskAwaitingApproval},
		"says nothing":      {guess, fermata.TaskAwaitingInput},
		"sure, no default":  {with(100, func(a *fermata.Ask) { a.Default = nil }), fermata.TaskAwaitingInput},
		"unsure of an evil": {with(0, dangerous), fermata.TaskAwaitingInput},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.setPolicy(func(p *fermata.Policy) { p.AutoConfidence, p.AskConfidence = ptr(80), ptr(50) })
				c1 := w.createRunning(fermata.NewTask{})
				w.Equal(c.want, w.finish(c1, needsInputWith(c.ask)).State)
				if c.want == fermata.TaskInputReceived {
					w.complete(w.claimTask(c1.Task.ID))
				}
				// The same through the API, during the run.
				c2 := w.createRunning(fermata.NewTask{Priority: ptr(0)})
				q := w.ask(c2.Task.ID, c.ask)
				if c.want == fermata.TaskSkipped {
					got := w.checkState(c2.Task.ID, fermata.TaskSkipped)
					w.Equal(fermata.ReasonLowConfidence, got.Reason)
					w.Equal(fermata.RunFinished, w.runState(c2.Run.ID))
					w.sweep(fermata.DefaultLease)
					w.checkState(c2.Task.ID, fermata.TaskSkipped)
					return
				}
				w.checkState(c2.Task.ID, fermata.TaskInProgress)
				if c.want == fermata.TaskInputReceived {
					w.Equal([]any{fermata.Answered, fermata.ActorPolicy, "a"}, []any{q.Status, q.Resolution.DecidedBy, q.Resolution.Answer})
					w.Equal(1, len(handedTexts(w.heartbeat(c2).Context)))
				}
			})
		})
	}
}

// TestAskedOfNobody: a name without a member is refused when the question is
// asked, not at the deadline. A question with which a run ends is not lost
// because of it.
func TestAskedOfNobody(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		for _, name := range []string{"alcie", "group:ops", "role:king"} {
			a := format
			a.Assignees = []string{name}
			_, err := w.Engine.Ask(w.Context(), w.agent, task.ID, a)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
			a.Escalation = []fermata.EscalationLevel{{Assignees: []string{"alice"}, Timeout: "5m", OnTimeout: fermata.FailTask}}
			q, err := w.Engine.Ask(w.Context(), w.agent, task.ID, a)
			w.OK(err)
			_, err = w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
			w.OK(err)
		}
		w.complete(w.claimTask(task.ID))
		a := format
		a.Assignees = []string{"alcie"}
		_, q := w.createSuspended(a)
		_, err := w.assign(w.alice, q.ID, "alice")
		w.OK(err)
		w.answer(q.ID, "toml")
	})
}

func TestQuorumThatCannotBeReached(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob", "ops")
		task := w.task(fermata.NewTask{})
		a := fermata.Ask{Type: fermata.Approval, Question: "Deploy?", Approvals: &fermata.Quorum{Required: 3}}
		_, err := w.Engine.Ask(w.Context(), w.agent, task.ID, a)
		w.CheckRefused(err, fermata.CodeQuorumUnreachable)
		a.Approvals.Required, a.Assignees = 2, []string{"group:ops"}
		_, err = w.Engine.Ask(w.Context(), w.agent, task.ID, a)
		w.CheckRefused(err, fermata.CodeQuorumUnreachable)
		a.Assignees = nil
		w.ask(task.ID, a)
	})
}

func TestPolicyBoundsTimeouts(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		w.setPolicy(func(p *fermata.Policy) { p.AllowNever, p.AllowLonger = false, false })
		for _, timeout := range []fermata.Timeout{fermata.Never, "4m", "25h"} {
			_, err := w.Engine.Ask(w.Context(), w.agent, task.ID, fermata.Ask{Question: "a?", Timeout: timeout})
			w.CheckRefused(err, fermata.CodePolicyViolation)
		}
		w.setPolicy(func(*fermata.Policy) {})
		w.ask(task.ID, fermata.Ask{Question: "a?", Timeout: fermata.Never})
	})
}

// A question with which a run ends is not lost because of an unknown name: people who can assign it are asked, and
// learn which people the agent named.
func TestAQuestionForNobodyGoesToOperators(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob")
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		suspended := w.finish(c, needsInputWith(fermata.Ask{Question: "Which colour?", Assignees: []string{"ghost"}, Channels: []string{"pigeon"}}))
		q, err := w.Engine.Question(w.Context(), w.alice, suspended.PendingQuestionID)
		w.OK(err)
		w.Equal([]string{"role:operator", "role:admin"}, q.Assignees)
		thread, _, err := w.Engine.Messages(w.Context(), w.alice, c.Task.ID, "", 0)
		w.OK(err)
		w.Equal(1, len(thread))
		for _, want := range []string{"ghost, but none of them may answer", `no channel "pigeon"`} {
			if !strings.Contains(thread[0].Body, want) {
				w.Errorf("the thread says %q, want %q in it", thread[0].Body, want)
			}
		}
		// An agent that asks during its run gets the error at once.
		next := w.createRunning(fermata.NewTask{Title: "fence"})
		_, err = w.Engine.Ask(w.Context(), w.agent, next.Task.ID, fermata.Ask{Question: "Which colour?", Assignees: []string{"ghost"}})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

func askingAlice(w *world) fermata.Caller {
	c := w.alice
	c.Scopes = append(slices.Clone(c.Scopes), fermata.ScopeAsk)
	return c
}
