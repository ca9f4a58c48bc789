package workflow

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// maxCallingSteps limits how many steps of a run call tools at the same time.
const maxCallingSteps = 8

// stepCalls are the tool calls of one step: one call, or one for each of its items.
type stepCalls struct {
	step  *definition.Step
	named *fermata.NamedTool
	// unstartedUnits are the units whose call has not started.
	unstartedUnits []unit
	// openCount counts the calls under way and the results that were not processed yet. maxOpen is its limit.
	openCount, maxOpen int
}

// callResult is the result of the tool call for one unit.
type callResult struct {
	calls  *stepCalls
	unit   unit
	output any
	note   string
	err    error
}

// scheduleCalls starts the calls of a step while the run continues in its other branches. If too many steps are calling
// already, the calls are queued.
func (x *execution) scheduleCalls(ctx context.Context, c *stepCalls) error {
	x.parked[c.step.ID] = nil
	if len(x.activeCalls) >= maxCallingSteps {
		x.queuedCalls = append(x.queuedCalls, c)
		return errParked
	}
	x.beginCalls(ctx, c)
	return errParked
}

// beginCalls starts as many calls of a step as its limit allows.
func (x *execution) beginCalls(ctx context.Context, c *stepCalls) {
	x.activeCalls[c.step.ID] = c
	for c.openCount < c.maxOpen && len(c.unstartedUnits) > 0 {
		x.startNext(ctx, c)
	}
}

// startNext starts the call for the next unit.
func (x *execution) startNext(ctx context.Context, c *stepCalls) {
	r := callResult{calls: c, unit: c.unstartedUnits[0]}
	c.unstartedUnits = c.unstartedUnits[1:]
	c.openCount++
	go func() {
		r.output, r.note, r.err = x.call(ctx, c.step, r.unit.row, c.named, r.unit.input)
		x.results <- r
	}()
}

// takeResult processes the result of a call that has returned.
func (x *execution) takeResult(ctx context.Context) error {
	r := x.pendingResults[0]
	x.pendingResults = x.pendingResults[1:]
	r.calls.openCount--
	if r.unit.row.Item != nil {
		return x.endItem(ctx, r)
	}
	x.endCalls(ctx, r.calls)
	return x.endCall(ctx, r)
}

// endCalls ends the calls of a step and makes its branch the current one. The first queued calls then start.
func (x *execution) endCalls(ctx context.Context, c *stepCalls) {
	delete(x.activeCalls, c.step.ID)
	x.pickPositionAt(c.step.ID)
	if len(x.queuedCalls) > 0 {
		next := x.queuedCalls[0]
		x.queuedCalls = x.queuedCalls[1:]
		x.beginCalls(ctx, next)
	}
}

// awaitCalls waits until all calls under way have returned.
func (x *execution) awaitCalls() {
	open := -len(x.pendingResults)
	for _, c := range x.activeCalls {
		open += c.openCount
	}
	for range open {
		<-x.results
	}
}
