package engine_test

import (
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// admin is a caller who may do everything that people may.
var admin = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_admin", Name: "root", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin}, Assurance: fermata.AssuranceSession,
}

func ptr[T any](v T) *T { return &v }

func (w *world) equal(want, got any) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("(-want +got):\n%s", diff)
	}
}

// checkNoTask checks that there is nothing to claim.
func (w *world) checkNoTask() {
	w.Helper()
	claim, err := w.e.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"})
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
	w.ok(err)
	return t
}

func (w *world) tryFinish(c *fermata.Claim, f fermata.Finish) (*fermata.Task, error) {
	f.Token = c.Run.Token
	return w.e.Finish(w.Context(), w.agent, c.Run.ID, f)
}

func (w *world) complete(c *fermata.Claim) {
	w.Helper()
	w.finish(c, fermata.Finish{Result: fermata.ResultCompleted})
}

func (w *world) ask(taskID string, a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.e.Ask(w.Context(), w.agent, taskID, a)
	w.ok(err)
	return q
}

func (w *world) answer(id string, value any) *fermata.Question {
	w.Helper()
	q, err := w.e.Answer(w.Context(), w.alice, id, fermata.Answer{Answer: value})
	w.ok(err)
	return q
}

func (w *world) approve(c fermata.Caller, q *fermata.Question, value string) (*fermata.Question, error) {
	return w.e.Answer(w.Context(), c, q.ID, fermata.Answer{Answer: value, ActionHash: q.ActionHash})
}

func (w *world) checkQuestion(id string, want fermata.QuestionStatus) *fermata.Question {
	w.Helper()
	q, err := w.e.Question(w.Context(), w.agent, id)
	w.ok(err)
	if q.Status != want {
		w.Fatalf("question is %s, want %s", q.Status, want)
	}
	return q
}

func (w *world) say(taskID, body string) {
	w.Helper()
	_, err := w.e.PostMessage(w.Context(), w.alice, taskID, body)
	w.ok(err)
}

func (w *world) cancel(taskID string) {
	w.Helper()
	_, err := w.e.CancelTask(w.Context(), w.alice, taskID, "not needed")
	w.ok(err)
}

func (w *world) heartbeat(c *fermata.Claim) *fermata.HeartbeatReply {
	w.Helper()
	reply, err := w.e.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
	w.ok(err)
	return reply
}

// sweep lets time pass, and then sweeps.
func (w *world) sweep(d time.Duration) {
	w.Helper()
	w.clock.Advance(d)
	_, err := w.e.Sweep(w.Context())
	w.ok(err)
}

// runState returns the state of a run.
func (w *world) runState(id string) fermata.RunState {
	w.Helper()
	r, err := w.e.Run(w.Context(), w.agent, id)
	w.ok(err)
	return r.State
}

func (w *world) setPolicy(change func(p *fermata.Policy)) {
	w.Helper()
	p := fermata.DefaultPolicy()
	change(&p)
	_, err := w.e.SetPolicy(w.Context(), admin, p)
	w.ok(err)
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
	events, _, err := w.e.Events(w.Context(), w.alice, engine.EventFilter{TaskID: taskID, Limit: 500})
	w.ok(err)
	var out []fermata.EventType
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

// closings counts the events that closed a question.
func (w *world) closings(questionID string) int {
	w.Helper()
	events, _, err := w.e.Events(w.Context(), w.alice, engine.EventFilter{Types: []string{
		string(fermata.EventQuestionAnswered), string(fermata.EventQuestionTimedOut), string(fermata.EventQuestionCancelled),
	}, Limit: 500})
	w.ok(err)
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
