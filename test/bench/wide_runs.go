package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// manySteps is the largest number of steps that a workflow may have.
const manySteps = 1000

// idleTool does nothing.
type idleTool struct{}

func (idleTool) Info() tool.Info { return tool.Info{Name: "idle", Description: "does nothing"} }

func (idleTool) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Output: map[string]any{}}, nil
}

// steps compares a run of 1,000 parallel steps with a run of as many steps in sequence.
func (b *bench) steps(ctx context.Context) error {
	for _, kind := range b.kinds {
		if err := b.stepsOn(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) stepsOn(ctx context.Context, kind string) error {
	samples := 5
	if b.short {
		samples = 2
	}
	var took [2][]time.Duration
	for range samples {
		for i, needs := range []string{"", ", needs: []"} {
			d, err := b.timeRun(ctx, kind, needs)
			if err != nil {
				return err
			}
			took[i] = append(took[i], d)
		}
	}
	ratio := float64(median(took[1])) / float64(median(took[0]))
	b.judge("steps of one run side by side, beside as many one after the other", fmt.Sprintf("%s, %s steps", title(kind), thousands(manySteps)),
		fmt.Sprintf("%s beside %s; ratio %.2f", ms(median(took[1])), ms(median(took[0])), ratio), "ratio ≤ 3", ratio <= 3)
	return nil
}

// timeRun returns how long a run of manySteps steps takes on its own database. needs is added to the YAML of each step.
func (b *bench) timeRun(ctx context.Context, kind, needs string) (took time.Duration, err error) {
	d, err := b.newDatabase(ctx, kind, "steps_"+kind)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.drop(ctx)) }()
	var source strings.Builder
	source.WriteString("name: bench\ntriggers: [{manual: true}]\nsteps:\n")
	for i := range manySteps {
		fmt.Fprintf(&source, "  - {id: s%d, tool: idle%s}\n", i, needs)
	}
	err = d.withWorkflows(ctx, idleTool{}, source.String(), func(s *workflow.Service, starter fermata.Caller) error {
		began := time.Now()
		run, err := s.Start(ctx, starter, "bench", nil)
		if err != nil {
			return err
		}
		if err := waitSuspended(ctx, s, starter); err != nil {
			return err
		}
		took = time.Since(began)
		if run, err = s.RunDetails(ctx, starter, run.ID); err == nil && run.State != fermata.TaskDone {
			err = fmt.Errorf("the run is %s: %s", run.State, run.Summary)
		}
		return err
	})
	return took, err
}
