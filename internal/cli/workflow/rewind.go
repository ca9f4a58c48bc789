package workflow

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type rewindCommand struct {
	session.WriteFlags
	ID       string           `arg:"" name:"run" complete:"run" help:"The run."`
	Step     string           `arg:"" help:"The main step that is done again."`
	Feedback string           `short:"m" placeholder:"TEXT|@FILE" help:"Say why, for the step: an agent reads it, and expressions see it as run.feedback."`
	Newest   bool             `help:"Go on with the newest definition. The steps that stay done must be the same there."`
	Wait     session.WaitFlag `help:"Wait until the run has ended, as fermata workflow run does."`
}

func (rewindCommand) Help() string {
	return `The step is done again as a new occurrence, and so is what comes after it; what the steps before it gave stays. A question on which the run
waits is withdrawn, and what is under way after the step is cancelled. A run that has ended goes back as well. This is for those who may
change the workflow.

Examples:

    fermata workflow rewind 3f9k2a draft -m "Shorter, please."
    fermata workflow rewind 3f9k2a draft --newest --wait`
}

func (c *rewindCommand) Run(ctx context.Context, s *session.Session) error {
	feedback, err := s.TextOrFile("--feedback", c.Feedback)
	if err != nil {
		return err
	}
	to := fermata.RunRewind{Step: c.Step, Feedback: feedback, Newest: c.Newest}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/workflow-runs/"+c.ID+"/rewind", to); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	run, err := server.RewindWorkflowRun(ctx, c.ID, to)
	if err != nil {
		return err
	}
	s.PrintDone("", "%s goes back to the step %s", run.ID, c.Step)
	return printStarted(ctx, s, run, c.Wait)
}

type moveCommand struct {
	session.WriteFlags
	ID string `arg:"" name:"run" complete:"run" help:"The run."`
}

func (moveCommand) Help() string {
	return `The steps that the run has begun must be the same in the newest definition; a step that failed may differ, and is done as it stands there
when the run is retried. A question on which the run waits stays open. This is for those who may change the workflow.

Examples:

    fermata workflow put release.yaml
    fermata workflow move 3f9k2a`
}

func (c *moveCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/workflow-runs/"+c.ID+"/move", nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	before, err := server.WorkflowRun(ctx, c.ID)
	if err != nil {
		return err
	}
	run, err := server.MoveWorkflowRun(ctx, c.ID)
	if err != nil {
		return err
	}
	if run.Hash == before.Hash {
		s.PrintDone("", "nothing changed: %s has the newest definition of %s, %s", run.ID, run.Workflow, terminal.ShortHash(run.Hash))
		return printStarted(ctx, s, run, session.WaitFlag{})
	}
	s.PrintDone("", "%s uses the definition %s of %s", run.ID, terminal.ShortHash(run.Hash), run.Workflow)
	return printStarted(ctx, s, run, session.WaitFlag{})
}
