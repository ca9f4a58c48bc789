package workflow_test

import (
	"errors"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// A step that must be isolated is never given to a worker without a sandbox.
func TestIsolatedStepsAreForSandboxes(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"a command":         `tool: shell, input: {run: make, isolated: true}`,
		"an agent":          `tool: agent, input: {prompt: "Look.", isolated: true}`,
		"an agent of ours":  `tool: look`,
		"a command of ours": `tool: build`,
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				_, err := w.s.PutNamedTools(w.Context(), admin, []*fermata.NamedTool{
					{Name: "look", Agent: &fermata.AgentTool{Prompt: "Look."}, Isolated: true}, {Name: "build", Command: []string{"make"}, Isolated: true},
				})
				w.OK(err)
				run := w.run("\nname: safe\ntriggers: [{manual: true}]\nsteps: [{id: one, "+step+"}]\n", nil)
				w.await(run.ID, fermata.TaskBlocked)
				request := fermata.ClaimRequest{Worker: "w", Runners: []string{"claude", "shell"}}
				if claim, err := w.Engine.Claim(w.Context(), worker, request); !errors.Is(err, engine.ErrNoTask) {
					w.Fatalf("a worker without a sandbox got %+v, %v", claim, err)
				}
				request.Isolates = true
				claim, err := w.Engine.Claim(w.Context(), worker, request)
				w.OK(err)
				_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultCompleted})
				w.OK(err)
				w.await(run.ID, fermata.TaskDone)
			})
		})
	}
}

// An MCP server cannot be isolated, because no worker runs it.
func TestNoServerOfToolsIsIsolated(t *testing.T) {
	onBoth(t, func(w *world) {
		_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{Name: "tracker", Server: &fermata.ToolServer{URL: "https://tracker.example.com"}, Isolated: true})
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			w.Errorf("it is %v", err)
		}
	})
}
