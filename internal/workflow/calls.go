package workflow

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// mostCalls limits how many steps of a run call tools at the same time.
const mostCalls = 8

// calls are the tool calls of one step: one call, or one for each of its items.
type calls struct {
	step  *definition.Step
	named *fermata.NamedTool
	// left are the units whose call has not started.
	left []unit
	// open counts the calls under way and the results that were not processed yet. most is its limit.
	open, most int
}

// callResult is the result of the tool call for one unit.
type callResult struct {
	of     *calls
	unit   unit
	output any
	note   string
	err    error
}

// startCalls starts the calls of a step while the run continues in its other branches. If too many steps are calling
// already, the calls are queued.
func (x *execution) startCalls(ctx context.Context, c *calls) error {
	x.parked[c.step.ID] = nil
	if len(x.calling) >= mostCalls {
		x.queued = append(x.queued, c)
		return errParked
	}
	x.beginCalls(ctx, c)
	return errParked
}

// beginCalls starts as many calls of a step as its limit allows.
func (x *execution) beginCalls(ctx context.Context, c *calls) {
	x.calling[c.step.ID] = c
	for c.open < c.most && len(c.left) > 0 {
		x.startNext(ctx, c)
	}
}

// startNext starts the call for the next unit.
func (x *execution) startNext(ctx context.Context, c *calls) {
	r := callResult{of: c, unit: c.left[0]}
	c.left = c.left[1:]
	c.open++
	go func() {
		r.output, r.note, r.err = x.call(ctx, c.step, r.unit.row, c.named, r.unit.input)
		x.results <- r
	}()
}

// takeResult processes the result of a call that has returned.
func (x *execution) takeResult(ctx context.Context) error {
	r := x.returned[0]
	x.returned = x.returned[1:]
	r.of.open--
	if r.unit.row.Item != nil {
		return x.endItem(ctx, r)
	}
	x.endCalls(ctx, r.of)
	return x.endCall(ctx, r)
}

// endCalls ends the calls of a step and makes its branch the current one. The first queued calls then start.
func (x *execution) endCalls(ctx context.Context, c *calls) {
	delete(x.calling, c.step.ID)
	x.pickPlaceAt(c.step.ID)
	if len(x.queued) > 0 {
		next := x.queued[0]
		x.queued = x.queued[1:]
		x.beginCalls(ctx, next)
	}
}

// awaitCalls waits until all calls under way have returned.
func (x *execution) awaitCalls() {
	open := -len(x.returned)
	for _, c := range x.calling {
		open += c.open
	}
	for range open {
		<-x.results
	}
}
