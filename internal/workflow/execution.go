package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// execution moves one claimed run forward until it stops or ends.
type execution struct {
	s     *Service
	claim *fermata.Claim
	run   *fermata.WorkflowRun
	def   *definition.Workflow
	st    *state
	// rows are the occurrences of steps so far, in the order in which they began. dirty are the rows that must be saved
	// with the next commit.
	rows  []*fermata.WorkflowStep
	dirty []*fermata.WorkflowStep
	byKey map[rowKey]*fermata.WorkflowStep
	// interrupted are the rows whose steps were under way when an earlier execution of the run ended.
	interrupted map[*fermata.WorkflowStep]bool
	cause       map[string]any
	inputs      map[string]any
	secrets
	now time.Time
	// parked holds the positions of the run that wait, by their step. activeCalls holds the calls under way by their
	// step, and queuedCalls the calls whose turn has not come.
	parked         parkedPositions
	activeCalls    map[string]*stepCalls
	queuedCalls    []*stepCalls
	results        chan callResult
	pendingResults []callResult
	// watch tells which tasks of waiting positions change while calls are under way. It is nil until it is needed.
	watch *engine.TaskWatch
}

// rowKey identifies a row: a step, its occurrence, and its item or -1.
type rowKey struct {
	step             string
	occurrence, item int
}

// rowKeyOf returns the key of a row. item is nil for the step itself.
func rowKeyOf(step string, occurrence int, item *int) rowKey {
	key := rowKey{step, occurrence, -1}
	if item != nil {
		key.item = *item
	}
	return key
}

// errStopped ends the execution without a failure: the run waits or has ended.
var errStopped = errors.New("the run stopped")

// execute moves a claimed run forward until it waits or ends.
func (s *Service) execute(ctx context.Context, claim *fermata.Claim) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopRenewal := s.keepLease(ctx, claim, cancel)
	defer stopRenewal()
	x, err := s.loadExecution(ctx, claim)
	if err != nil {
		return s.failRun(ctx, claim, err)
	}
	if err := x.proceed(ctx); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

// loadExecution loads a claimed run from the database.
func (s *Service) loadExecution(ctx context.Context, claim *fermata.Claim) (*execution, error) {
	r := s.db.Reader(ctx, claim.Task.WorkspaceID)
	run, err := r.WorkflowRun(claim.Task.ID)
	if err != nil {
		return nil, err
	}
	x := &execution{s: s, claim: claim, run: run, activeCalls: map[string]*stepCalls{}, results: make(chan callResult)}
	if x.def, err = s.pinnedDefinition(r, run); err != nil {
		return nil, err
	}
	x.secrets = s.secretsOf(x.def)
	if err := x.readSteps(r); err != nil {
		return nil, err
	}
	if x.st, err = readState(claim.Task.Checkpoint); err != nil {
		return nil, err
	}
	if x.st == nil {
		x.st = newState(x.def)
	}
	x.cause, x.inputs = decodeObject(run.Cause), decodeObject(run.Inputs)
	x.now, err = s.db.Now(ctx)
	return x, err
}

// readSteps loads the rows of the run's steps.
func (x *execution) readSteps(r store.Reader) (err error) {
	x.rows, err = r.Steps(x.run.ID)
	x.byKey = make(map[rowKey]*fermata.WorkflowStep, len(x.rows))
	x.interrupted = map[*fermata.WorkflowStep]bool{}
	for _, row := range x.rows {
		x.byKey[rowKeyOf(row.Step, row.Occurrence, row.Item)] = row
		x.interrupted[row] = row.State == fermata.StepRunning
	}
	return err
}

func decodeObject(doc json.RawMessage) map[string]any {
	if len(doc) == 0 {
		return map[string]any{}
	}
	v, err := definition.DecodeJSON(doc)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return map[string]any{}
	}
	return m
}

// keepLease extends the lease until the returned function is called. If the lease was lost, keepLease cancels ctx.
func (s *Service) keepLease(ctx context.Context, claim *fermata.Claim, cancel context.CancelCauseFunc) (end func()) {
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(s.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := s.e.WithLeasedRun(ctx, claim.Task.WorkspaceID, claim.Run.ID, claim.Run.Token, func(h *engine.LeasedRun) error {
				h.ExtendLease(s.Lease)
				return nil
			})
			if fermata.CodeOf(err) == fermata.CodeStaleRun {
				cancel(err)
				return
			}
		}
	}()
	return func() { close(done); <-stopped }
}

// commit saves the state, the changed rows and the writes of fn in one transaction under the lease.
func (x *execution) commit(ctx context.Context, fn func(h *engine.LeasedRun) error) error {
	x.s.CommitHook("before commit")
	err := x.s.e.WithLeasedRun(ctx, x.claim.Task.WorkspaceID, x.claim.Run.ID, x.claim.Run.Token, func(h *engine.LeasedRun) error {
		h.Task.Attempts = 0
		if fn != nil {
			if err := fn(h); err != nil {
				return err
			}
		}
		h.Task.Checkpoint = x.st.bytes()
		x.now = h.Tx.Now()
		if h.Task.State.IsEnded() {
			for _, row := range x.dirty {
				x.cancelRow(row, "the run ended", x.now)
			}
		}
		for _, row := range x.dirty {
			h.Tx.SaveStep(row)
		}
		x.appendStepEvents(h)
		return nil
	})
	x.s.CommitHook("after commit")
	if err != nil {
		return err
	}
	x.dirty = nil
	return nil
}

// stop commits a write that ends the claim. It returns errStopped on success.
func (x *execution) stop(ctx context.Context, fn func(h *engine.LeasedRun) error) error {
	if err := x.commit(ctx, fn); err != nil {
		return err
	}
	return errStopped
}

// appendStepEvents appends the events of the rows that changed.
func (x *execution) appendStepEvents(h *engine.LeasedRun) {
	for _, row := range x.dirty {
		typ := fermata.EventStepStarted
		fields := map[string]any{"workflow": x.run.Workflow, "step": row.Step, "occurrence": row.Occurrence, "tool": row.Tool, "state": row.State}
		if row.State.IsEnded() {
			typ = fermata.EventStepFinished
			fields["attempt"] = row.Attempt
			if row.EndedAt != nil {
				fields["seconds"] = row.EndedAt.Sub(row.StartedAt).Seconds()
			}
			if row.Error != nil {
				fields["error"] = row.Error.Message
			}
		}
		if row.Item != nil {
			fields["item"] = *row.Item
		}
		if row.Note != "" {
			fields["note"] = row.Note
		}
		h.Tx.Append(&fermata.Event{Type: typ, TaskID: x.run.ID, RunID: x.claim.Run.ID, QuestionID: row.QuestionID, Actor: fermata.SystemActor, Data: encodeJSON(fields)})
	}
}

// touch marks a row to be saved with the next commit.
func (x *execution) touch(row *fermata.WorkflowStep) {
	for _, d := range x.dirty {
		if d == row {
			return
		}
	}
	x.dirty = append(x.dirty, row)
}

// begin starts an occurrence of a step and returns its row. If the row exists already, it is started again.
func (x *execution) begin(step *definition.Step, occurrence int, item *int) *fermata.WorkflowStep {
	key := rowKeyOf(step.ID, occurrence, item)
	if row := x.byKey[key]; row != nil {
		// A process that was lost began it before, or an earlier attempt has ended. Nothing of that attempt stays.
		if row.State.IsEnded() || row.Until != nil {
			row.Note, row.Output = "", nil
		}
		row.State, row.Error, row.EndedAt, row.Until = fermata.StepRunning, nil, nil, nil
		// The question may be about an error of the step. Its answer is not the step's output.
		row.QuestionID = ""
		x.touch(row)
		return row
	}
	row := &fermata.WorkflowStep{
		TaskID: x.run.ID, Step: step.ID, Occurrence: occurrence, Item: item, Tool: step.Tool, State: fermata.StepRunning, Attempt: 1, StartedAt: x.now,
	}
	x.rows, x.byKey[key] = append(x.rows, row), row
	x.touch(row)
	return row
}

// currentRow returns the row of a step's newest occurrence, or nil.
func (x *execution) currentRow(step string) *fermata.WorkflowStep {
	return x.byKey[rowKeyOf(step, x.st.Visits[step], nil)]
}

// itemRows returns the rows of a step's items by their index.
func (x *execution) itemRows(row *fermata.WorkflowStep) map[int]*fermata.WorkflowStep {
	byIndex := map[int]*fermata.WorkflowStep{}
	for _, r := range x.rows {
		if r.Step == row.Step && r.Occurrence == row.Occurrence && r.Item != nil {
			byIndex[*r.Item] = r
		}
	}
	return byIndex
}

// env returns the variables that expressions of a step can read.
func (x *execution) env(row *fermata.WorkflowStep) definition.Env {
	env := x.def.InitialEnv()
	steps, _ := env["steps"].(map[string]any)
	maps.Copy(env, definition.Env{
		"inputs": x.inputs, "trigger": x.cause, definition.NowKey: x.now, "secrets": x.read, definition.FailureName: x.st.Outcome.failure(),
		"run": map[string]any{
			"id": x.run.ID, "workflow": x.run.Workflow, "attempt": int64(row.Attempt), "occurrence": int64(row.Occurrence), "round": int64(x.roundOf(row.Step)), "feedback": nil,
		},
	})
	if x.st.Feedback != "" {
		env["run"].(map[string]any)["feedback"] = x.st.Feedback //nolint:forcetypeassert // the value is set above
	}
	for i := range x.def.Steps {
		step := &x.def.Steps[i]
		if step.Output != "" {
			env[step.Output] = nil
		}
		last := x.currentRow(step.ID)
		if last == nil || last.Occurrence <= x.st.Hidden[step.ID] {
			continue
		}
		stepValue := map[string]any{"status": string(last.State), "output": decodeJSON(last.Output), "error": nil, "answer": nil, "branch": x.gitBranch(step, last)}
		if last.Error != nil {
			stepValue["error"] = errorValue(last.Error)
		}
		if last.QuestionID != "" {
			if answered, ok := stepValue["output"].(map[string]any); ok {
				stepValue["answer"] = answered["answer"]
				if asksPeople(step) {
					fillAnswer(answered)
				}
			}
		}
		steps[step.ID] = stepValue
		if step.Output != "" && hasOutput(step, last) {
			env[step.Output] = stepValue["output"]
		}
	}
	maps.Copy(env, x.st.Vars)
	return env
}

// hasOutput reports whether other steps can read the output of an occurrence. They can read the list of outputs of a
// step with foreach even if some of its items failed.
func hasOutput(step *definition.Step, row *fermata.WorkflowStep) bool {
	switch row.State {
	case fermata.StepDone, fermata.StepRejected:
		return true
	default:
		return row.State.IsEnded() && step.Foreach != nil && len(row.Output) > 0
	}
}

// errorValue returns the error of a step in the form that expressions read.
func errorValue(e *fermata.StepError) map[string]any {
	fields := map[string]any{"code": e.Code, "message": e.Message, "exit_code": nil, "stdout": e.Stdout, "stderr": e.Stderr}
	if e.ExitCode != nil {
		fields["exit_code"] = int64(*e.ExitCode)
	}
	return fields
}

// decodeJSON decodes the JSON of a column. It returns nil if the column is empty or holds no JSON.
func decodeJSON(doc json.RawMessage) any {
	if len(doc) == 0 {
		return nil
	}
	v, err := definition.DecodeJSON(doc)
	if err != nil {
		return nil
	}
	return v
}

// asker returns the actor in whose name the run asks. It has the id of the member that started the run, because a
// member may be barred from approving their own request.
func (x *execution) asker() fermata.Actor {
	a := fermata.Actor{Kind: fermata.ActorAgent, Name: "workflow " + x.run.Workflow}
	if x.run.StartedBy != nil {
		a.ID = x.run.StartedBy.ID
	}
	return a
}

// boundText returns a text that is short enough for the summary of a run.
func boundText(text string) string { return fermata.Truncate(text, 2000) }

// complete ends a run that has done its last step.
func (x *execution) complete(ctx context.Context) error {
	outputs, done, all := map[string]any{}, 0, 0
	for i := range x.def.Steps {
		step := &x.def.Steps[i]
		row := x.currentRow(step.ID)
		isDone := row != nil && row.State == fermata.StepDone
		if step.Output != "" && row != nil && hasOutput(step, row) {
			outputs[step.Output] = row.Output
		}
		if step.Phase == definition.MainPhase {
			all++
			if isDone {
				done++
			}
		}
	}
	details := encodeJSON(map[string]any{"outputs": outputs})
	if len(details) > fermata.MaxStepOutput {
		details = encodeJSON(map[string]any{"outputs": map[string]any{}, "note": "the outputs are too large to hand on"})
	}
	return x.stop(ctx, func(h *engine.LeasedRun) error {
		return h.Complete(fermata.Finish{Summary: fmt.Sprintf("%d of %d steps done.", done, all), Details: details})
	})
}
