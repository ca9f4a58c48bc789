package workflow_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow"
)

const watching = `
name: watching
triggers:
  - schedule: "*/10 * * * *"
  - event: task.ended
    if: trigger.data.to == "done"
steps: [{id: tell, tool: note}]
`

func TestEnableAndDisable(t *testing.T) {
	onBoth(t, func(w *world) {
		stored := w.put(watching)
		off, err := w.s.SetEnabled(w.Context(), admin, "watching", false)
		w.OK(err)
		if off.Enabled || off.Hash != stored.Hash || off.Source != watching || off.Graph == nil || off.Triggers[0].NextAt != nil {
			w.Fatalf("disabled %s", asJSON(off))
		}
		// This event happens while the workflow is disabled. It starts nothing,
		// not even later.
		w.await(w.run("name: first\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n", nil).ID, fermata.TaskDone)
		w.Clock.Advance(time.Hour)
		on, err := w.s.SetEnabled(w.Context(), admin, "watching", true)
		w.OK(err)
		if !on.Enabled || on.Hash != stored.Hash || on.Triggers[0].NextAt == nil || on.Triggers[0].NextAt.Before(on.UpdatedAt) {
			w.Fatalf("enabled %s", asJSON(on))
		}
		w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace))
		w.runsOf("watching", 0)
		// Enabling it a second time changes nothing and adds no event.
		head, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Head()
		w.OK(err)
		again, err := w.s.SetEnabled(w.Context(), admin, "watching", true)
		w.OK(err)
		if after, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Head(); err != nil || after.Seq != head.Seq || !again.Enabled {
			w.Fatalf("the head went from %d to %d, %v", head.Seq, after.Seq, err)
		}
		changes, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{Types: []string{string(fermata.EventWorkflowChanged)}, Limit: 10})
		w.OK(err)
		var told []string
		for _, e := range changes {
			if strings.Contains(string(e.Data), `"watching"`) {
				told = append(told, string(e.Data))
			}
		}
		if len(told) != 3 || !strings.Contains(told[1], `"enabled":false`) || !strings.Contains(told[2], `"enabled":true`) {
			w.Fatalf("events %s", told)
		}
		w.await(w.run("name: second\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n", nil).ID, fermata.TaskDone)
		w.runsOf("watching", 1)
	})
}

func TestWhoMayChangeAWorkflow(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(watching)
		operator := ann
		operator.Scopes = []fermata.Scope{fermata.ScopeWork, fermata.ScopeRead}
		operator.Projects = map[string]fermata.Role{"shop": fermata.RoleOperator}
		mine := strings.Replace(watching, "name: watching", "name: watching\nproject: shop", 1)
		for what, err := range map[string]error{
			"takes a workflow of another project": errOf(w.s.Put(w.Context(), operator, "", workflow.Definition{Source: mine})),
			"disables it":                         errOf(w.s.SetEnabled(w.Context(), operator, "watching", false)),
			"enables it":                          errOf(w.s.SetEnabled(w.Context(), ann, "watching", true)),
		} {
			if fermata.CodeOf(err) != fermata.CodeForbidden {
				w.Errorf("%s: %v", what, err)
			}
		}
		own := strings.ReplaceAll(mine, "watching", "own")
		w.OK(errOf(w.s.Put(w.Context(), operator, "", workflow.Definition{Source: own})))
		w.OK(errOf(w.s.SetEnabled(w.Context(), operator, "own", false)))
		if _, err := w.s.SetEnabled(w.Context(), admin, "nowhere", true); fermata.CodeOf(err) != fermata.CodeNotFound {
			w.Errorf("a workflow that is not there: %v", err)
		}
	})
}

func errOf[T any](_ T, err error) error { return err }

// TestStoringAgainLosesNoTime stores a definition again at the moment when its
// schedule is due.
func TestStoringAgainLosesNoTime(t *testing.T) {
	onBoth(t, func(w *world) {
		d := w.put(watching)
		w.stop()
		w.Clock.Advance(d.Triggers[0].NextAt.Sub(w.Clock.Now()) + time.Second)
		w.put(watching + "# changed\n")
		_, err := w.s.StartDue(w.Context())
		w.OK(err)
		w.runsOf("watching", 1)
	})
}

// A workflow whose definition would be refused today, such as one whose tool is gone, still shows its graph.
func TestTheGraphOfADefinitionThatWouldBeRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{Name: "polish", Agent: &fermata.AgentTool{Prompt: "Polish it."}})
		w.OK(err)
		w.put("name: shine\ntriggers: [{manual: true}]\nsteps: [{id: rub, tool: polish}]\n")
		w.OK(w.s.DeleteNamedTool(w.Context(), admin, "polish"))
		shown, err := w.s.Workflow(w.Context(), admin, "shine", "")
		w.OK(err)
		if len(shown.Warnings) != 1 || shown.Graph == nil || !slices.ContainsFunc(shown.Graph.Nodes, func(n fermata.GraphNode) bool { return n.ID == "rub" }) {
			w.Fatalf("shown %s", asJSON(shown))
		}
	})
}
