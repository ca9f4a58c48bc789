package engine_test

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/testkit"
)

var admin = testkit.Admin

func ptr[T any](v T) *T { return &v }

// checkNoTask checks that there is nothing to claim.
func (w *world) checkNoTask() {
	w.Helper()
	claim, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"})
	if !errors.Is(err, engine.ErrNoTask) {
		w.Fatalf("claimed %+v, %v; want no task", claim, err)
	}
}

// claimTask claims the task and checks that it is this one.
func (w *world) claimTask(id string) *fermata.Claim {
	w.Helper()
	claim := w.claim()
	if claim.Task.ID != id {
		w.Fatalf("claimed %s, want %s", claim.Task.ID, id)
	}
	return claim
}

// createRunning creates a task and claims it.
func (w *world) createRunning(n fermata.NewTask) *fermata.Claim {
	w.Helper()
	return w.claimTask(w.task(n).ID)
}

func (w *world) finish(c *fermata.Claim, f fermata.Finish) *fermata.Task {
	w.Helper()
	t, err := w.tryFinish(c, f)
	w.OK(err)
	return t
}

func (w *world) tryFinish(c *fermata.Claim, f fermata.Finish) (*fermata.Task, error) {
	reply, err := w.tryFinishAndClaim(c, f)
	if err != nil {
		return nil, err
	}
	return reply.Task, nil
}

func (w *world) tryFinishAndClaim(c *fermata.Claim, f fermata.Finish) (*fermata.FinishReply, error) {
	f.Token = c.Run.Token
	return w.Engine.Finish(w.Context(), w.agent, c.Run.ID, f)
}

func (w *world) complete(c *fermata.Claim) {
	w.Helper()
	w.finish(c, fermata.Finish{Result: fermata.ResultCompleted})
}

func (w *world) ask(taskID string, a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.Engine.Ask(w.Context(), w.agent, taskID, a)
	w.OK(err)
	return q
}

func (w *world) answer(id string, value any) *fermata.Question {
	w.Helper()
	q, err := w.Engine.Answer(w.Context(), w.alice, id, fermata.Answer{Answer: value})
	w.OK(err)
	return q
}

func (w *world) approve(c fermata.Caller, q *fermata.Question, value string) (*fermata.Question, error) {
	return w.Engine.Answer(w.Context(), c, q.ID, fermata.Answer{Answer: value, ActionHash: q.ActionHash})
}

func (w *world) checkQuestion(id string, want fermata.QuestionStatus) *fermata.Question {
	w.Helper()
	q, err := w.Engine.Question(w.Context(), w.agent, id)
	w.OK(err)
	if q.Status != want {
		w.Fatalf("question is %s, want %s", q.Status, want)
	}
	return q
}

func (w *world) say(taskID, body string) {
	w.Helper()
	_, err := w.Engine.PostMessage(w.Context(), w.alice, taskID, body)
	w.OK(err)
}

func (w *world) cancel(taskID string) {
	w.Helper()
	_, err := w.Engine.CancelTask(w.Context(), w.alice, taskID, "not needed")
	w.OK(err)
}

func (w *world) heartbeat(c *fermata.Claim) *fermata.HeartbeatReply {
	w.Helper()
	reply, err := w.Engine.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
	w.OK(err)
	return reply
}

// sweep lets time pass, and then sweeps.
func (w *world) sweep(d time.Duration) {
	w.Helper()
	w.Clock.Advance(d)
	_, err := w.Engine.Sweep(w.Context())
	w.OK(err)
}

// runState returns the state of a run.
func (w *world) runState(id string) fermata.RunState {
	w.Helper()
	r, err := w.Engine.Run(w.Context(), w.agent, id)
	w.OK(err)
	return r.State
}

func (w *world) setPolicy(change func(p *fermata.Policy)) {
	w.Helper()
	p := fermata.DefaultPolicy()
	change(&p)
	_, err := w.Engine.SetPolicy(w.Context(), admin, p)
	w.OK(err)
}

// handedTexts lists the messages and the titles of questions that a run was handed.
func handedTexts(rc *fermata.ResumeContext) []string {
	out := []string{}
	if rc == nil {
		return out
	}
	for i := range rc.Questions {
		out = append(out, string(rc.Questions[i].Resolution.Status)+": "+rc.Questions[i].Title)
	}
	for i := range rc.Messages {
		out = append(out, rc.Messages[i].Body)
	}
	return out
}

// types lists the types of a task's events.
func (w *world) types(taskID string) []fermata.EventType {
	w.Helper()
	events, _, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{TaskID: taskID, Limit: 500})
	w.OK(err)
	var out []fermata.EventType
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

// closings counts the events that closed a question.
func (w *world) closings(questionID string) int {
	w.Helper()
	events, _, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{Types: []string{
		string(fermata.EventQuestionAnswered), string(fermata.EventQuestionTimedOut), string(fermata.EventQuestionCancelled),
	}, Limit: 500})
	w.OK(err)
	n := 0
	for _, e := range events {
		if e.QuestionID == questionID {
			n++
		}
	}
	return n
}

var (
	needsInput = fermata.Finish{Result: fermata.ResultNeedsInput}
	completed  = fermata.Finish{Result: fermata.ResultCompleted}
)

// needsInputWith is a result that suspends on the question.
func needsInputWith(a fermata.Ask) fermata.Finish {
	return fermata.Finish{Result: fermata.ResultNeedsInput, Question: &a}
}
