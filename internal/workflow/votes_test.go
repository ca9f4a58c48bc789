package workflow_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// voter adds a member that may answer and create tasks.
func (w *world) voter(handle string) fermata.Caller {
	w.Helper()
	c := w.Person(handle)
	c.Scopes, c.Assurance = []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeWork}, fermata.AssuranceSession
	return c
}

// The answer to an approval by several people names all of them.
func TestAnApprovalNamesEverybodyWhoApproved(t *testing.T) {
	onBoth(t, func(w *world) {
		voters := []fermata.Caller{w.voter("bea"), w.voter("carl")}
		run := w.run(`
name: deploy
triggers: [{manual: true}]
steps:
  - id: ask
    tool: request_approval
    output: approval
    input: {title: "Deploy?", action: {command: [make, deploy]}, approvals: {required: 2}}
    on_resume: {inject: {count: "{{ len(pendingQuestion.votes) }}"}}
  - {id: tell, tool: note, input: {by: "{{ approval.by }}", count: "{{ count }}", first: "{{ approval.votes[0].by }}", why: "{{ approval.votes[1].comment }}"}}
`, nil)
		q := w.awaitRunQuestion(run.ID)
		for i, c := range voters {
			_, err := w.Engine.Answer(w.Context(), c, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash, Comment: []string{"", "it is late"}[i]})
			w.OK(err)
		}
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[1].Input); got != `{"by":"bea, carl","count":2,"first":"bea","why":"it is late"}` {
			w.Errorf("the next step got %s", got)
		}
	})
}
