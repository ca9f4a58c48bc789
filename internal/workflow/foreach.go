package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/posting"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// maxItems limits the length of a foreach list.
const maxItems = definition.MaxItems

// doEach does a step for every item of a list, with a limited number of items in parallel. open are the tasks of the
// items that are under way.
func (x *execution) doEach(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, open []string) error {
	list, err := x.itemList(step, row)
	if err != nil {
		return x.failAfterItems(ctx, step, row, open, permanentError(codeInput, err))
	}
	if x.mustStopItems(step, row) {
		if err := x.cancelOpenItems(ctx, row, open); err != nil {
			return err
		}
		return x.joinItems(ctx, step, row, list)
	}
	named, err := x.namedTool(ctx, step.Tool)
	if err != nil {
		return err
	}
	c, isDelegated := x.s.builtInDelegation(step.Tool)
	isQuestion := asksPeople(step)
	if named != nil && named.Server == nil {
		c, isDelegated = namedToolDelegation(named), true
	}
	maxUnits := len(list)
	if isDelegated || isQuestion {
		// The run stops for these items. The next ones begin when one of them has ended.
		maxUnits = max(step.Parallel, 1) - len(open)
	}
	units, err := x.beginUnits(ctx, step, row, list, maxUnits)
	switch {
	case err != nil:
		return err
	case len(units) == 0 && len(open) > 0:
		return x.awaitItems(ctx, open)
	case len(units) == 0:
		return x.joinItems(ctx, step, row, list)
	case isQuestion:
		return x.askEach(ctx, step, row, units, open)
	case isDelegated:
		return x.delegate(ctx, step, row, c, units, open)
	}
	return x.callEach(ctx, step, named, units)
}

// itemList returns the items of a step. The list is stored with the step at first use, so that it stays the same on every
// attempt.
func (x *execution) itemList(step *definition.Step, row *fermata.WorkflowStep) ([]any, error) {
	if storedList, ok := decodeJSON(row.Input).([]any); ok {
		return storedList, nil
	}
	rendered, err := step.Foreach.Render(x.env(row))
	if err != nil {
		return nil, err
	}
	list, ok := rendered.([]any)
	switch {
	case !ok:
		return nil, errNoList(rendered)
	case len(list) > maxItems:
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "foreach gives %d items, and may give at most %d", len(list), maxItems).
			WithHint(definition.TooManyItemsHint)
	}
	doc := x.storedJSON(list)
	if err := checkInputSize(doc); err != nil {
		return nil, err
	}
	row.Input = doc
	x.touch(row)
	return list, nil
}

// errNoList returns the failure of a step whose foreach is no list. It does not quote the value, which may be secret.
func errNoList(value any) error {
	kind, hint := "an object", "give a list, such as {{ [first, second] }}"
	switch value.(type) {
	case nil:
		kind, hint = "null", "if the list may be missing, write {{ … ?? [] }}"
	case string:
		kind = "a text"
	case bool:
		kind = "true or false"
	case int64, float64:
		kind = "a number"
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "foreach is %s, and must be a list", kind).WithHint("%s", hint)
}

// beginUnits begins at most limit items that are not done yet. An item without a usable input fails alone.
func (x *execution) beginUnits(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, list []any, limit int) ([]unit, error) {
	known := x.itemRows(row)
	env := maps.Clone(x.env(row))
	var units []unit
	for i, item := range list {
		if len(units) >= limit {
			break
		}
		r := known[i]
		isOpen := r != nil && r.State == fermata.StepWaiting && r.ChildID != ""
		if isOpen || r != nil && isItemOver(step, r, row.Attempt) {
			continue
		}
		r = x.begin(step, row.Occurrence, &i)
		r.Attempt = row.Attempt
		env["item"], env["index"] = item, int64(i)
		input, err := x.input(step, r, env)
		if err != nil {
			if !isStepError(err) {
				err = permanentError(codeInput, err)
			}
			if err := x.saveItemEnd(ctx, r, err); err != nil {
				return nil, err
			}
			continue
		}
		units = append(units, unit{row: r, input: input})
	}
	return units, nil
}

// isItemOver reports whether an item has ended and is not done again in an attempt of its step. An item that failed in
// an earlier attempt is done again, and so is an approval that nobody gave.
func isItemOver(step *definition.Step, item *fermata.WorkflowStep, attempt int) bool {
	switch item.State {
	case fermata.StepDone, fermata.StepRejected:
		return true
	case fermata.StepSkipped:
		return item.Attempt >= attempt || !step.MayBeApproval()
	case fermata.StepFailed:
		return item.Attempt >= attempt
	default:
		return false
	}
}

// callEach calls a tool of this process for each item, with a limited number of calls in parallel. The run continues in
// its other branches.
func (x *execution) callEach(ctx context.Context, step *definition.Step, named *fermata.NamedTool, units []unit) error {
	x.noteInterruption(x.currentRow(step.ID), interruptedItems)
	if err := x.commit(ctx, nil); err != nil {
		return err
	}
	maxOpen := max(step.Parallel, 1)
	if x.s.Stub != nil {
		// A simulation takes the results from its script in the order of the items.
		maxOpen = 1
	}
	return x.scheduleCalls(ctx, &stepCalls{step: step, named: named, unstartedUnits: units, maxOpen: maxOpen})
}

// endItem ends an item with the result of its call. The step ends with its last item.
func (x *execution) endItem(ctx context.Context, r callResult) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c, row, err := r.calls, r.unit.row, r.err
	if r.note != "" {
		addNote(row, x.hideInText(r.note))
	}
	if err == nil {
		err = x.storeOutput(c.step, row, r.output)
	}
	if err := x.saveItemEnd(ctx, row, err); err != nil {
		return err
	}
	all := x.currentRow(c.step.ID)
	mustStop := x.mustStopItems(c.step, all)
	switch {
	case len(c.unstartedUnits) > 0 && !x.isFailingFast() && !mustStop:
		x.startNext(ctx, c)
		return nil
	case c.openCount > 0:
		return nil
	}
	x.endCalls(ctx, c)
	switch {
	case len(c.unstartedUnits) > 0 && x.isFailingFast():
		return x.cancelPosition(ctx)
	case mustStop:
		if err := x.cancelOpenItems(ctx, all, nil); err != nil {
			return err
		}
	}
	list, err := x.itemList(c.step, all)
	if err != nil {
		return x.handleFailure(ctx, c.step, all, permanentError(codeInput, err))
	}
	return x.joinItems(ctx, c.step, all, list)
}

// mustStopItems reports whether no more items may begin: the definition has fail_fast, and an item failed in a way that
// also fails its step.
func (x *execution) mustStopItems(step *definition.Step, row *fermata.WorkflowStep) bool {
	if !x.def.FailFast || step.OnError == definition.OnErrorContinue || step.OnError == definition.OnErrorAsk {
		return false
	}
	for _, r := range x.itemRows(row) {
		if r.State == fermata.StepFailed && r.Attempt >= row.Attempt && (isFinal(r.Error) || row.Attempt >= retryOf(step, r.Error).Attempts) {
			return true
		}
	}
	return false
}

// cancelOpenItems cancels the items of a step that have begun and not ended, and their tasks.
func (x *execution) cancelOpenItems(ctx context.Context, row *fermata.WorkflowStep, taskIDs []string) error {
	const reason = "another item failed"
	return x.commit(ctx, func(h *engine.LeasedRun) error {
		x.cancelItems(row, reason, h.Tx.Now())
		return h.CancelChildren(taskIDs, reason)
	})
}

// cancelItems ends the items of a step that have not ended.
func (x *execution) cancelItems(row *fermata.WorkflowStep, reason string, now time.Time) {
	for _, item := range x.itemRows(row) {
		x.cancelRow(item, reason, now)
	}
}

// saveItemEnd saves the result of an item, so that the item is not done again.
func (x *execution) saveItemEnd(ctx context.Context, row *fermata.WorkflowStep, cause error) error {
	state := fermata.StepDone
	if cause != nil {
		state, row.Error = fermata.StepFailed, x.toSafeStepError(cause)
	}
	if err := x.finish(ctx, row, state); err != nil {
		return err
	}
	return x.commit(ctx, nil)
}

// awaitItems parks a step until one of its open tasks has ended.
func (x *execution) awaitItems(ctx context.Context, open []string) error {
	x.st.WaitsFor = waitForChildren
	return x.parkOn(ctx, nil, open...)
}

// failAfterItems fails a step. If tasks of its items are still open, it waits for them first.
func (x *execution) failAfterItems(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, open []string, cause error) error {
	if len(open) > 0 {
		return x.awaitItems(ctx, open)
	}
	return x.handleFailure(ctx, step, row, cause)
}

// askEach asks one question for each item, each in its own thread. The step waits until one of these questions closes,
// or one of the tasks in open ends. An item whose question cannot be asked fails alone.
func (x *execution) askEach(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, units []unit, open []string) error {
	asks := map[*fermata.WorkflowStep]fermata.Ask{}
	for _, u := range units {
		a, err := x.itemQuestion(step, u)
		if err == nil {
			asks[u.row] = a
			continue
		}
		if err := x.saveItemEnd(ctx, u.row, err); err != nil {
			return err
		}
	}
	if len(asks) < len(units) {
		return x.doEach(ctx, step, row, open) // other items take the places of those that failed
	}
	return x.delegate(ctx, step, row, delegation{create: func(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error) {
		q, err := x.askInChildTask(h, fmt.Sprintf("%s (%d)", step.ID, *u.row.Item+1), asks[u.row], x.thresholds(step))
		if refusal := asRefusal(err); refusal != nil {
			return nil, refusal
		}
		if err != nil {
			return nil, err
		}
		u.row.QuestionID = q.ID
		return h.Tx.Task(q.TaskID)
	}}, units, open)
}

// itemQuestion returns the question of an item. It returns a [stepError] if the input of the item is no question.
func (x *execution) itemQuestion(step *definition.Step, u unit) (fermata.Ask, error) {
	a, err := posting.Read(u.input, step.Tool == toolApproval)
	if err != nil {
		return a, permanentError(codeInput, err)
	}
	if x.containsSecret(a) {
		return a, errExposesSecret("the question")
	}
	a.State = x.questionState(u.row)
	return a, nil
}

// askInChildTask asks a question in a child task of the run, because a task asks one question at a time.
func (x *execution) askInChildTask(h *engine.LeasedRun, name string, a fermata.Ask, thresholds fermata.Thresholds) (*fermata.Question, error) {
	t, err := h.CreateChild(fermata.NewTask{
		Title: truncate(x.run.Workflow+": "+name, fermata.MaxTaskTitle), Project: x.run.Project, Runner: fermata.RunnerExternal, EndsWithAnswer: true,
	}, x.asker())
	if err != nil {
		return nil, err
	}
	return h.AskOnChild(t, a, thresholds, x.asker())
}

// gatherItems collects the results of item tasks that have ended, and continues with the remaining items.
func (x *execution) gatherItems(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	var open []string
	for _, r := range x.itemRows(row) {
		if r.State != fermata.StepWaiting {
			continue
		}
		ended, err := x.storeTaskOutput(ctx, step, r)
		if fermata.CodeOf(err) == fermata.CodeUnavailable || ctx.Err() != nil {
			return err
		}
		if !ended && err == nil {
			open = append(open, r.ChildID)
			continue
		}
		state := fermata.StepDone
		switch {
		case err != nil:
			state, r.Error = fermata.StepFailed, x.toSafeStepError(err)
		case r.State == fermata.StepRejected, r.State == fermata.StepSkipped:
			state = r.State
		}
		if err := x.finish(ctx, r, state); err != nil {
			return err
		}
	}
	x.st.WaitsFor = ""
	if len(open) == 0 {
		row.State = fermata.StepRunning
	}
	return x.doEach(ctx, step, row, open)
}

// isFinal reports whether an item failed by a decision or by a deadline, which another attempt would not change.
func isFinal(e *fermata.StepError) bool {
	return slices.Contains([]string{codeRejected, codeSetAside, codeQuestionTimeout, codeWithdrawn}, e.Code)
}

// itemResults are the results of all items of a step.
type itemResults struct {
	// outputs holds null for an item without an output.
	outputs []json.RawMessage
	failed  []*fermata.WorkflowStep
	// isRejected and isSkipped report whether one of the items was rejected or skipped.
	isRejected, isSkipped bool
}

// itemResults returns the results of the items of a list.
func (x *execution) itemResults(row *fermata.WorkflowStep, list []any) itemResults {
	results := itemResults{outputs: make([]json.RawMessage, len(list))}
	rows := x.itemRows(row)
	for i := range list {
		results.outputs[i] = json.RawMessage("null")
		r := rows[i]
		switch {
		case r == nil:
			continue
		case r.State == fermata.StepFailed:
			results.failed = append(results.failed, r)
			continue
		case len(r.Output) > 0:
			results.outputs[i] = r.Output
		}
		results.isRejected = results.isRejected || r.State == fermata.StepRejected
		results.isSkipped = results.isSkipped || r.State == fermata.StepSkipped
	}
	return results
}

// failedItemsError returns the failure of a step with failed items.
func failedItemsError(failed []*fermata.WorkflowStep, all int) error {
	first := failed[0]
	var cause error = &stepError{
		code: first.Error.Code, permanent: isFinal(first.Error), err: fmt.Errorf("%d of %d items failed, the first of them item %d: %s", len(failed), all, *first.Item, first.Error.Message),
	}
	if slices.ContainsFunc(failed, func(r *fermata.WorkflowStep) bool { return !r.Error.SafeToRetry }) {
		return cause
	}
	return tool.MarkSafeToRetry(cause)
}

// joinItems ends a step with the outputs of all its items.
func (x *execution) joinItems(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, list []any) error {
	results := x.itemResults(row, list)
	doc := encodeJSON(results.outputs)
	if len(doc) > fermata.MaxStepOutput {
		return x.handleFailure(ctx, step, row, permanentError(codeTooLarge, fmt.Errorf("the outputs of all items have %d bytes, a step may give %d", len(doc), fermata.MaxStepOutput)))
	}
	row.Output = doc
	if len(results.failed) > 0 {
		return x.handleFailure(ctx, step, row, failedItemsError(results.failed, len(list)))
	}
	if results.isSkipped && step.MayBeApproval() {
		// Nothing goes on without the approvals of all items.
		row.Note = nobodyAnswered
		if err := x.finish(ctx, row, fermata.StepSkipped); err != nil {
			return err
		}
		return x.endTimedOut(ctx, step)
	}
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	if results.isRejected && step.OnRejectGoto != "" {
		x.jump(step, step.OnRejectGoto)
		return nil
	}
	x.leaveStep(step)
	return nil
}
