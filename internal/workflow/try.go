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
	// tryWithin is the time limit of a test on a server.
	tryWithin = 20 * time.Second
	// tryWait is how long a test waits for the previous one.
	tryWait = 5 * time.Second
)

// errTryTooLong is the cause that ends a test after its time limit.
var errTryTooLong = errors.New("the test takes too long")

// Trial is a request to test a definition on a server.
type Trial struct {
	Source string `json:"source" minLength:"1" maxLength:"262144" doc:"the definition as YAML"`
	Script string `json:"script,omitempty" maxLength:"65536" doc:"what stands in for tools and people, and what is expected, as YAML; left out: answers and outputs are made up"`
}

// Try tests a definition as [Test] does, with the tools and channels of the caller's workspace. A caller that may read
// workflows gets the problems of a wrong definition. Only a caller that may define the workflow runs a correct one. A
// process runs one such test at a time, for at most 20 seconds.
func (s *Service) Try(ctx context.Context, c fermata.Caller, t Trial) (*TestReport, error) {
	if err := c.May(fermata.ToReadWorkflows, fermata.Somewhere); err != nil {
		return nil, err
	}
	known, err := s.knownNames(ctx, c)
	if err != nil {
		return nil, err
	}
	source := []byte(t.Source)
	d, problems := definition.Load(source, known)
	if d == nil {
		return reportProblems(problems), nil
	}
	if err := c.May(fermata.ToDefineWorkflow, fermata.InProject(d.Project)); err != nil {
		return nil, err
	}
	done, err := s.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limited, cancel := context.WithTimeoutCause(ctx, tryWithin, errTryTooLong)
	defer cancel()
	report, err := runTest(limited, d, known, source, []byte(t.Script))
	if err != nil && errors.Is(context.Cause(limited), errTryTooLong) {
		return &TestReport{Failures: []string{fmt.Sprintf("the test was ended after %s. fermata workflow test has no limit", tryWithin)}}, nil
	}
	return report, err
}

// takeTurn waits until no other test runs in this process. Call done when your test has ended.
func (s *Service) takeTurn(ctx context.Context) (done func(), err error) {
	wait := time.NewTimer(tryWait)
	defer wait.Stop()
	select {
	case s.trying <- struct{}{}:
		return func() { <-s.trying }, nil
	case <-wait.C:
		return nil, fermata.Errorf(fermata.CodeUnavailable, "the server tests another definition").WithHint("try again in a moment, or use fermata workflow test")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
