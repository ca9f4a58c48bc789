package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type workflowRewindCommand struct {
	write
	ID       string   `arg:"" name:"run" complete:"run" help:"The run."`
	Step     string   `arg:"" help:"The main step that is done again."`
	Feedback string   `short:"m" placeholder:"TEXT|@FILE" help:"Say why, for the step: an agent reads it, and expressions see it as run.feedback."`
	Newest   bool     `help:"Go on with the newest definition. The steps that stay done must be the same there."`
	Wait     waitFlag `help:"Wait until the run has ended, as fermata workflow run does."`
}

func (workflowRewindCommand) Help() string {
	return `The step is done again as a new occurrence, and so is what comes after it; what the steps before it gave stays. A question on which the run
waits is withdrawn, and what is under way after the step is cancelled. A run that has ended goes back as well. This is for those who may
change the workflow.

Examples:

    fermata workflow rewind 3f9k2a draft -m "Shorter, please."
    fermata workflow rewind 3f9k2a draft --newest --wait`
}

func (c *workflowRewindCommand) Run(ctx context.Context, s *session) error {
	feedback, err := s.textOrFile("--feedback", c.Feedback)
	if err != nil {
		return err
	}
	to := fermata.RunRewind{Step: c.Step, Feedback: feedback, Newest: c.Newest}
	if done, err := s.printDryRun(c.write, "POST", "/workflow-runs/"+c.ID+"/rewind", to); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	run, err := server.RewindWorkflowRun(ctx, c.ID, to)
	if err != nil {
		return err
	}
	s.printDone("", "%s goes back to the step %s", run.ID, c.Step)
	return s.printStarted(ctx, run, c.Wait)
}

type workflowMoveCommand struct {
	write
	ID string `arg:"" name:"run" complete:"run" help:"The run."`
}

func (workflowMoveCommand) Help() string {
	return `The steps that the run has begun must be the same in the newest definition; a step that failed may differ, and is done as it stands there
when the run is retried. A question on which the run waits stays open. This is for those who may change the workflow.

Examples:

    fermata workflow put release.yaml
    fermata workflow move 3f9k2a`
}

func (c *workflowMoveCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "POST", "/workflow-runs/"+c.ID+"/move", nil); done {
		return err
	}
	server, err := s.server()
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
		s.printDone("", "nothing changed: %s has the newest definition of %s, %s", run.ID, run.Workflow, shortHash(run.Hash))
		return s.printStarted(ctx, run, waitFlag{})
	}
	s.printDone("", "%s goes by the definition %s of %s", run.ID, shortHash(run.Hash), run.Workflow)
	return s.printStarted(ctx, run, waitFlag{})
}
