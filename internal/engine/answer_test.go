package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestSameAnswerAgainIsFine(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.createSuspended(format)
		first := w.answer(q.ID, "toml")
		again := w.answer(q.ID, "toml")
		w.Equal(first.Resolution, again.Resolution)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "json"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		_, err = w.Engine.Answer(w.Context(), w.Person("bob"), q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		w.Equal(1, w.closings(q.ID))
	})
}

func TestAnswerThatDoesNotFit(t *testing.T) {
	each(t, func(w *world) {
		strict := format
		strict.Other = ptr(false)
		task, q := w.createSuspended(strict)
		for _, a := range []fermata.Answer{
			{}, {Answer: "xml"}, {Answer: 3.0}, {Answers: map[string]any{"other": "toml"}}, {Answer: "toml", ActionHash: "x"}, {Answer: "\x00"},
		} {
			_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, a)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		_, err := w.Engine.Answer(w.Context(), w.alice, "q_00000000000000000000", fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeNotFound)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
	})
}

func TestWhoMayAnswer(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Assignees = []string{"alice", "group:ops", "role:admin"}
		_, q := w.createSuspended(a)
		viewer := w.Person("viewer", "ops")
		viewer.Role = fermata.RoleViewer
		reader := w.Person("reader", "ops")
		reader.Scopes = []fermata.Scope{fermata.ScopeRead}
		for name, c := range map[string]struct {
			caller fermata.Caller
			code   fermata.Code
		}{
			"agent": {w.agent, fermata.CodeNotEligible}, "viewer": {viewer, fermata.CodeNotEligible},
			"no scope": {reader, fermata.CodeForbidden}, "not assigned": {w.Person("bob"), fermata.CodeNotEligible},
		} {
			for verb, act := range map[string]func() error{
				"answer": func() error {
					_, err := w.Engine.Answer(w.Context(), c.caller, q.ID, fermata.Answer{Answer: "toml"})
					return err
				},
				"clarify": func() error { _, err := w.Engine.Clarify(w.Context(), c.caller, q.ID, "why?"); return err },
				"extend":  func() error { _, err := w.Engine.ExtendQuestion(w.Context(), c.caller, q.ID, "5m"); return err },
			} {
				if got := fermata.CodeOf(act()); got != c.code {
					w.Errorf("%s: %s is %q, want %s", name, verb, got, c.code)
				}
			}
		}
		_, err := w.Engine.Answer(w.Context(), w.Person("carol", "ops"), q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		_, q = w.createSuspended(a)
		_, err = w.Engine.Answer(w.Context(), admin, q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
	})
}

func TestApprovalNamesTheAction(t *testing.T) {
	each(t, func(w *world) {
		action := json.RawMessage("{ \"command\" : \"rm <x> & é\" }")
		task, q := w.createSuspended(fermata.Ask{Question: "Run it?", Action: action})
		w.checkState(task.ID, fermata.TaskAwaitingApproval)
		w.Equal(fermata.HashAction(action), q.ActionHash)
		w.Equal(fermata.HashAction(q.Action), q.ActionHash)
		for _, hash := range []string{"", "x", fermata.HashAction([]byte("{}"))} {
			_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: hash})
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		w.Equal(`{"command":"rm <x> & é"}`, string(q.Action))
		edited := json.RawMessage("{ \"command\":\t\"rm <y> && z\" }")
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash, Action: edited})
		w.OK(err)
		r := w.checkQuestion(q.ID, fermata.Answered).Resolution
		w.Equal(`{"command":"rm <y> && z"}`, string(r.Action))
		w.Equal(fermata.HashAction(edited), r.ActionHash)
		w.Equal(r.ActionHash, fermata.HashAction(r.Action))
		w.Equal(true, r.IsApproved())
		rc := w.claimTask(task.ID).Context
		w.Equal(r, rc.Questions[0].Resolution)
	})
}

func TestRejectionNeedsNoHash(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(fermata.Ask{Question: "Run it?", Action: json.RawMessage(`{"a":1}`)})
		w.answer(q.ID, fermata.Reject)
		w.checkState(task.ID, fermata.TaskInputReceived)
	})
}

func TestLateAnswer(t *testing.T) {
	late := func(t *testing.T, restart bool, test func(w *world, task *fermata.Task, q *fermata.Question)) {
		each(t, func(w *world) {
			a := format
			a.Timeout = "10m"
			task, q := w.createSuspended(a)
			w.sweep(10 * time.Minute)
			w.Equal(fermata.ReasonQuestionTimedOut, w.checkState(task.ID, fermata.TaskFailed).Reason)
			got, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "json", Restart: restart})
			w.OK(err)
			w.Equal(fermata.ActorTimeout, got.Resolution.DecidedBy)
			test(w, task, q)
			w.Equal(1, w.closings(q.ID))
		})
	}
	t.Run("kept", func(t *testing.T) {
		late(t, false, func(w *world, task *fermata.Task, q *fermata.Question) {
			w.checkState(task.ID, fermata.TaskFailed)
			w.Equal(1, len(w.checkQuestion(q.ID, fermata.TimedOut).Resolution.LateAnswers))
			_, err := w.Engine.Answer(w.Context(), w.Person("bob"), q.ID, fermata.Answer{Answer: "toml"})
			w.CheckRefused(err, fermata.CodeQuestionClosed)
			_, err = w.Engine.ReopenTask(w.Context(), w.alice, task.ID)
			w.OK(err)
			w.Equal(1, len(w.claimTask(task.ID).Context.Questions))
		})
	})
	t.Run("restart", func(t *testing.T) {
		late(t, true, func(w *world, task *fermata.Task, q *fermata.Question) {
			w.checkState(task.ID, fermata.TaskInputReceived)
			w.answer(q.ID, "json")
			rc := w.claimTask(task.ID).Context
			w.Equal([]string{"timed_out: Which format?"}, handedTexts(rc))
			w.Equal("json", rc.Questions[0].Resolution.LateAnswers[0].Answers["answer"])
		})
	})
}

// createDefaulted returns a task whose question was closed by its deadline with the default "yaml".
func (w *world) createDefaulted() (*fermata.Task, *fermata.Question) {
	w.Helper()
	a := format
	a.Timeout, a.Default = "10m", "yaml"
	task, q := w.createSuspended(a)
	w.sweep(10 * time.Minute)
	return task, q
}

// TestALateApprovalIsNoQuorum: if several people had to approve in time, one late approval does not count. A late
// rejection is stored.
func TestALateApprovalIsNoQuorum(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob")
		task, q := w.createSuspended(fermata.Ask{
			Question: "Deploy?", Action: json.RawMessage(`{"a":1}`), Timeout: "10m", Approvals: &fermata.Quorum{Required: 2},
		})
		w.sweep(10 * time.Minute)
		q = w.checkQuestion(q.ID, fermata.TimedOut)
		for _, restart := range []bool{false, true} {
			_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash, Restart: restart})
			w.CheckRefused(err, fermata.CodePolicyViolation)
		}
		w.checkState(task.ID, fermata.TaskFailed)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Reject, Restart: true})
		w.OK(err)
		w.checkState(task.ID, fermata.TaskInputReceived)
	})
}

// TestLateAnswerIsHandedToTheRun: the run continued with the default, and is then handed the late answer of a person.
func TestLateAnswerIsHandedToTheRun(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createDefaulted()
		c := w.claimTask(task.ID)
		w.Equal(1, len(handedTexts(c.Context)))
		w.answer(q.ID, "json")
		rc := w.heartbeat(c).Context
		w.Equal("json", rc.Questions[0].Resolution.LateAnswers[0].Answers["answer"])
		w.checkState(task.ID, fermata.TaskInProgress)
	})
}

// TestAReopenedTaskIsToldTheLateAnswer: the first run got the default and ended the task, so the run after the
// reopening must get the late answer.
func TestAReopenedTaskIsToldTheLateAnswer(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createDefaulted()
		w.complete(w.claimTask(task.ID))
		w.answer(q.ID, "json")
		w.checkState(task.ID, fermata.TaskDone)
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, task.ID)
		w.OK(err)
		rc := w.claimTask(task.ID).Context
		w.Equal([]string{"timed_out: Which format?"}, handedTexts(rc))
		w.Equal("json", rc.Questions[0].Resolution.LateAnswers[0].Answers["answer"])
	})
}

func TestCancelQuestionResumes(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		for range 2 {
			got, err := w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "found it")
			w.OK(err)
			w.Equal([]any{fermata.Cancelled, fermata.ActorAgent, "found it"}, []any{got.Status, got.Resolution.DecidedBy, got.Resolution.Comment})
		}
		w.Equal(1, w.closings(q.ID))
		w.Equal([]string{"cancelled: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		_, q = w.createSuspended(format)
		w.answer(q.ID, "toml")
		_, err = w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
		w.CheckRefused(err, fermata.CodeQuestionClosed)
	})
}

func TestClarifyKeepsTheQuestionOpen(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		_, err := w.Engine.Clarify(w.Context(), w.alice, q.ID, "for what?")
		w.OK(err)
		w.Equal(q.ID, w.checkState(task.ID, fermata.TaskInputReceived).PendingQuestionID)
		w.checkQuestion(q.ID, fermata.Pending)
		c := w.claimTask(task.ID)
		w.Equal([]string{"for what?"}, handedTexts(c.Context))
		w.Equal(fermata.MessageClarification, c.Context.Messages[0].Kind)
		w.finish(c, needsInput)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.answer(q.ID, "toml")
		w.checkState(task.ID, fermata.TaskInputReceived)
		_, err = w.Engine.Clarify(w.Context(), w.alice, q.ID, "and?")
		w.CheckRefused(err, fermata.CodeQuestionClosed)
	})
}

func TestQuorum(t *testing.T) {
	for name, c := range map[string]struct {
		reject string
		votes  []string
		want   fermata.QuestionStatus
		answer any
	}{
		"enough":                {"", []string{"approve", "approve", "approve"}, fermata.Answered, "approve"},
		"not enough":            {"", []string{"approve", "approve"}, fermata.Pending, nil},
		"the first rejection":   {"first", []string{"approve", "reject"}, fermata.Answered, "reject"},
		"a rejection is little": {"majority", []string{"reject", "approve"}, fermata.Pending, nil},
		"most reject":           {"majority", []string{"reject", "approve", "reject"}, fermata.Answered, "reject"},
		"most approve":          {"majority", []string{"reject", "approve", "approve", "approve"}, fermata.Answered, "approve"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				people := []fermata.Caller{w.alice, w.Person("bob"), w.Person("carol"), w.Person("dan")}
				task, q := w.createSuspended(fermata.Ask{
					Question: "Deploy?", Action: json.RawMessage(`{"a":1}`), Approvals: &fermata.Quorum{Required: 3, Reject: c.reject},
				})
				for i, vote := range c.votes {
					_, err := w.approve(people[i], q, vote)
					w.OK(err)
					_, err = w.approve(people[i], q, vote)
					w.OK(err)
				}
				got := w.checkQuestion(q.ID, c.want)
				w.Equal(len(c.votes), len(got.Votes))
				if c.want == fermata.Pending {
					w.checkState(task.ID, fermata.TaskAwaitingApproval)
					other := map[string]string{"approve": "reject", "reject": "approve"}[c.votes[0]]
					_, err := w.approve(people[0], q, other)
					w.CheckRefused(err, fermata.CodeInvalidRequest)
					return
				}
				w.Equal(c.answer, got.Resolution.Answer)
				w.Equal(c.answer == fermata.Approve, got.Resolution.IsApproved())
				w.checkState(task.ID, fermata.TaskInputReceived)
				w.Equal(1, w.closings(q.ID))
			})
		})
	}
}

// TestEveryVotersWordsReachTheAgent: the agent gets the comments of all voters, not only of the last one.
func TestEveryVotersWordsReachTheAgent(t *testing.T) {
	each(t, func(w *world) {
		bob, carol := w.Person("bob"), w.Person("carol")
		task, q := w.createSuspended(fermata.Ask{
			Question: "Deploy?", Action: json.RawMessage(`{"a":1}`), Approvals: &fermata.Quorum{Required: 3},
		})
		for _, vote := range []struct {
			by      fermata.Caller
			comment string
		}{{w.alice, "only on staging"}, {bob, ""}, {carol, "looks fine"}} {
			_, err := w.Engine.Answer(w.Context(), vote.by, q.ID, fermata.Answer{Answer: fermata.Approve, Comment: vote.comment, ActionHash: q.ActionHash})
			w.OK(err)
		}
		rc := w.claimTask(task.ID).Context
		a := rc.Questions[0]
		w.Equal([]any{1, "only on staging", "alice", "looks fine"}, []any{len(a.Votes), a.Votes[0].Comment, a.Votes[0].By.Name, a.Resolution.Comment})
		for _, words := range []string{"alice (human) voted approve. Comment:\n```\nonly on staging\n```", "Comment:\n```\nlooks fine\n```"} {
			if !strings.Contains(rc.Text, words) {
				w.Errorf("%q is not in\n%s", words, rc.Text)
			}
		}
	})
}

func TestWhoAskedMayNotApprove(t *testing.T) {
	each(t, func(w *world) {
		alice := w.alice
		alice.Scopes = append(alice.Scopes, fermata.ScopeAsk)
		a := fermata.Ask{Type: fermata.Approval, Question: "Deploy?", Approvals: &fermata.Quorum{Required: 1}}
		task := w.task(fermata.NewTask{})
		_, err := w.Engine.Ask(w.Context(), alice, task.ID, a)
		w.CheckRefused(err, fermata.CodeQuorumUnreachable)
		bob := w.Person("bob")
		q, err := w.Engine.Ask(w.Context(), alice, task.ID, a)
		w.OK(err)
		_, err = w.approve(alice, q, fermata.Approve)
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.approve(bob, q, fermata.Approve)
		w.OK(err)
	})
}

func TestExtend(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Timeout = "10m"
		task, q := w.createSuspended(a)
		got, err := w.Engine.ExtendQuestion(w.Context(), w.alice, q.ID, "5m")
		w.OK(err)
		w.Equal(q.Deadline.Add(5*time.Minute), *got.Deadline)
		w.sweep(14 * time.Minute)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.setPolicy(func(p *fermata.Policy) { p.AllowLonger = false })
		_, err = w.Engine.ExtendQuestion(w.Context(), w.alice, q.ID, "2d")
		w.CheckRefused(err, fermata.CodePolicyViolation)
		for _, by := range []fermata.Timeout{"", "never", "-5m", "0s"} {
			_, err = w.Engine.ExtendQuestion(w.Context(), w.alice, q.ID, by)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		w.sweep(time.Minute)
		w.checkState(task.ID, fermata.TaskFailed)
		_, err = w.Engine.ExtendQuestion(w.Context(), w.alice, q.ID, "5m")
		w.CheckRefused(err, fermata.CodeQuestionClosed)
	})
}
