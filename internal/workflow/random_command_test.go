package workflow_test

import (
	"errors"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// commandEnding is how a command ends: as its worker reports it, and as a script says it.
type commandEnding struct {
	finish  fermata.Finish
	outcome string
}

// commandEndings holds how the commands of random steps end, by their kind.
var commandEndings = map[string]commandEnding{
	"command": {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,"output":"made\n","stderr":"hm"}`)}, `{"exit_code":0,"stdout":"made\n","stderr":"hm"}`},
	"bad command": {
		fermata.Finish{Result: fermata.ResultFailed, Summary: "The program ended with exit status 3.\nfull", Details: []byte(`{"exit_code":3,"output":"made\n","stderr":"full\n"}`)},
		`{"exit_code":3,"output":"made\n","stderr":"full\n"}`,
	},
	"slow command": {
		fermata.Finish{
			Result: fermata.ResultFailed, Reason: fermata.ReasonRunTimeout, Summary: "The run took longer than 1s and was stopped.",
			Details: []byte(`{"exit_code":-1,"output":"made\n","stderr":""}`),
		},
		`{"error":{"code":"step_timeout","message":"The run took longer than 1s and was stopped.","stdout":"made\n"}}`,
	},
	"text command":    {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,"output":"\"x\"\n","stderr":""}`)}, `{"output":"\"x\"\n"}`},
	"no text command": {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,"output":"hello\n","stderr":""}`)}, `{"output":"hello\n"}`},
	"json command":    {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,"output":"{\"n\":1}","stderr":""}`)}, `{"output":{"n":1}}`},
	"no json command": {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,"output":"made","stderr":"hm"}`)}, `{"exit_code":0,"output":"made","stderr":"hm"}`},
}

// endCommand ends the next command that waits for a worker as its kind says. It reports whether there was one.
func (w *world) endCommand(kinds map[string]string) bool {
	w.Helper()
	claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"shell"}})
	if errors.Is(err, engine.ErrNoTask) {
		return false
	}
	w.OK(err)
	_, step, _ := strings.Cut(claim.Task.Title, ": ")
	finish := commandEndings[kinds[step]].finish
	finish.Token = claim.Run.Token
	_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, finish)
	w.OK(err)
	return true
}

// commandResults returns the outputs and the errors of the commands of a run.
func commandResults(run *fermata.WorkflowRun, steps []randomStep) string {
	results := map[string]any{}
	for _, s := range run.Steps {
		at := slices.IndexFunc(steps, func(of randomStep) bool { return of.id == s.Step })
		if _, isCommand := commandEndings[steps[at].kind]; isCommand {
			results[s.Step] = []any{s.Output, s.Error}
		}
	}
	return asJSON(results)
}
