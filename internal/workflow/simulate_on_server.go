package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

const (
	// simulationTimeout is the time limit of a test on a server.
	simulationTimeout = 20 * time.Second
	// simulationQueueWait is how long a test waits for the previous one.
	simulationQueueWait = 5 * time.Second
)

// errSimulationTimeout is the cause that ends a test after its time limit.
var errSimulationTimeout = errors.New("the test takes too long")

// Trial is a request to test a definition on a server.
type Trial struct {
	Source string `json:"source" minLength:"1" maxLength:"262144" doc:"the definition as YAML"`
	Script string `json:"script,omitempty" maxLength:"65536" doc:"what stands in for tools and people, and what is expected, as YAML; left out: answers and outputs are made up"`
}

// Simulate tests a definition as [Simulate] does, with the tools and channels of the caller's workspace. A caller that may read
// workflows gets the problems of a wrong definition. Only a caller that may define the workflow runs a correct one. A
// process runs one such test at a time, for at most 20 seconds.
func (s *Service) Simulate(ctx context.Context, c fermata.Caller, t Trial) (*fermata.TestReport, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	known, err := s.catalog(ctx, c)
	if err != nil {
		return nil, err
	}
	source := []byte(t.Source)
	d, problems := definition.Load(source, known)
	if d == nil {
		return reportProblems(problems), nil
	}
	if err := c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(d.Project)); err != nil {
		return nil, err
	}
	done, err := s.acquireTestSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limited, cancel := context.WithTimeoutCause(ctx, simulationTimeout, errSimulationTimeout)
	defer cancel()
	report, err := runSimulation(limited, d, known, source, []byte(t.Script))
	if err != nil && errors.Is(context.Cause(limited), errSimulationTimeout) {
		return &fermata.TestReport{Failures: []string{fmt.Sprintf("the test was ended after %s. fermata workflow test has no limit", simulationTimeout)}}, nil
	}
	return report, err
}

// acquireTestSlot waits until no other test runs in this process. Call done when your test has ended.
func (s *Service) acquireTestSlot(ctx context.Context) (done func(), err error) {
	wait := time.NewTimer(simulationQueueWait)
	defer wait.Stop()
	select {
	case s.testSlot <- struct{}{}:
		return func() { <-s.testSlot }, nil
	case <-wait.C:
		return nil, fermata.Errorf(fermata.CodeUnavailable, "the server tests another definition").WithHint("try again in a moment, or use fermata workflow test")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
