package workflow_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// Every question within a run is asked on the run's issue: questions of its agents, of tasks that they created, and
// about errors.
func TestQuestionsWithinARunAreOnItsIssue(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: fix
triggers: [{manual: true}]
inputs: {issue: {type: string}}
steps:
  - {id: fix, tool: agent, on_error: ask, input: {runner: claude, prompt: "Fix it."}}
`, map[string]any{"issue": "octo/hello#7"})
		claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"claude"}, WaitSeconds: 20})
		w.OK(err)
		below, err := w.Engine.CreateTask(w.Context(), worker, fermata.NewTask{Title: "Look it up", ParentID: claim.Task.ID, Runner: fermata.RunnerExternal})
		w.OK(err)
		asked := map[string]*fermata.Question{}
		for name, task := range map[string]string{"the agent": claim.Task.ID, "a task of the agent": below.ID} {
			asked[name], err = w.Engine.Ask(w.Context(), worker, task, fermata.Ask{Question: "Which one?", Metadata: map[string]string{"slack": "#dev"}})
			w.OK(err)
			_, err = w.Engine.Answer(w.Context(), ann, asked[name].ID, fermata.Answer{Answer: "the first"})
			w.OK(err)
		}
		_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{Result: fermata.ResultFailed, Summary: "no idea", Token: claim.Run.Token, Heard: &[]string{asked["the agent"].ID}})
		w.OK(err)
		asked["the error"] = w.awaitRunQuestion(run.ID)
		for name, q := range asked {
			if q.Metadata["github_issue"] != "octo/hello#7" || name != "the error" && q.Metadata["slack"] != "#dev" {
				w.Errorf("the question of %s is about %v", name, q.Metadata)
			}
		}
		// A question that names another issue is asked there.
		other, err := w.Engine.AskExternal(w.Context(), worker, "", "", fermata.Ask{Question: "And?", Metadata: map[string]string{"github_issue": "octo/hello#8"}})
		w.OK(err)
		if other.Metadata["github_issue"] != "octo/hello#8" {
			w.Errorf("it is about %v", other.Metadata)
		}
	})
}
