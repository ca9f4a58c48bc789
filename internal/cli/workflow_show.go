package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type workflowShowCommand struct {
	Word   string `arg:"" name:"name|run" complete:"workflow,run" help:"Name of a workflow, or a run."`
	Watch  bool   `short:"w" help:"Of a run: go on until it has ended, and draw it anew as it changes."`
	Source bool   `help:"Of a workflow: print the definition alone."`
	Hash   string `placeholder:"HASH" help:"Of a workflow: the definition that had this hash."`
	Plain  bool   `help:"Plain letters instead of symbols."`
}

func (workflowShowCommand) Help() string {
	return `Of a workflow: what starts it and when, its inputs, its steps, its last runs. Of a run: each step with its state, how long it took, what came of it, and the question that it waits for. Outputs are cut short; --json has all of them.

Examples:

    fermata workflow show autofix
    fermata workflow show autofix --source > autofix.yaml
    fermata workflow show 3f9k2a --watch
    fermata workflow show 3f9k2a --json | jq '.steps[] | {step, state, output}'`
}

// maxShownRuns is the number of last runs that are shown with a workflow.
const maxShownRuns = 5

func (c *workflowShowCommand) Run(ctx context.Context, s *session) error {
	w, run, err := s.findWorkflowOrRun(ctx, c.Word)
	if err != nil {
		return err
	}
	if run != nil {
		if err := checkUnreadFlags("a run", map[string]bool{"--source": c.Source, "--hash": c.Hash != ""}); err != nil {
			return err
		}
		return c.run(ctx, s, run)
	}
	if c.Watch {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--watch is for runs, and %q is a workflow", c.Word).
			WithHint("fermata workflow runs %s lists its runs", c.Word)
	}
	if c.Hash != "" {
		if w, err = s.client.Workflow(ctx, w.Name, c.Hash); err != nil {
			return err
		}
	}
	if c.Source {
		_, err := s.out.Write([]byte(w.Source))
		return err
	}
	if s.JSON {
		return s.writeJSON(w)
	}
	runs, _, err := s.client.WorkflowRuns(ctx, client.WorkflowRunQuery{Workflow: w.Name, Limit: maxShownRuns})
	if err != nil {
		return err
	}
	s.showWorkflow(w, s.marks(c.Plain))
	if len(runs) > 0 {
		s.stdout().line("\nLast runs")
		s.printTable(s.runTable(runs), "")
	}
	return nil
}

func (c *workflowShowCommand) run(ctx context.Context, s *session, run *fermata.WorkflowRun) error {
	v := &runView{s: s, id: run.ID, marks: s.marks(c.Plain)}
	if c.Watch {
		return s.watch(ctx, v)
	}
	if err := v.read(ctx); err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(v.run)
	}
	for _, line := range s.drawingLines(v) {
		s.stdout().line("%s", line)
	}
	return nil
}

// showWorkflow prints a workflow.
func (s *session) showWorkflow(w *fermata.Workflow, m marks) {
	p := s.stdout()
	p.printTitle(w.Name)
	p.line("%s", p.dim(fmt.Sprintf("%s · project %s · definition %s, stored by %s %s",
		enabledText(w), oneLine(w.Project), shortHash(w.Hash), actorName(w.UpdatedBy), s.sinceText(w.UpdatedAt))))
	p.printQuoted("", w.Description)
	p.line("\nStarted by")
	for _, t := range w.Triggers {
		p.line("  %s", s.triggerText(w, t))
	}
	if len(w.Triggers) == 0 {
		p.line("  nothing but other workflows")
	}
	if len(w.Inputs) > 0 {
		p.line("\nInputs")
	}
	for _, in := range w.Inputs {
		p.line("  %s", s.fit(inputText(in)))
	}
	p.line("\nSteps")
	s.printGraph(w.Graph, m, "  ")
	if len(w.Warnings) > 0 {
		p.line("")
		p.printProblems(w.Name, w.Warnings)
	}
}

// sinceText returns the time since an instant for people, and the instant for
// scripts.
func (s *session) sinceText(t time.Time) string {
	if s.outTerm {
		return s.agoText(t) + " ago"
	}
	return s.agoText(t)
}

func (s *session) triggerText(w *fermata.Workflow, t fermata.WorkflowTrigger) string {
	parts := []string{fmt.Sprintf("%-11s", t.Type)}
	if t.Text != "" {
		parts = append(parts, oneLine(t.Text))
	}
	switch {
	case t.NextAt != nil && s.outTerm:
		parts = append(parts, "next in "+s.leftText(t.NextAt))
	case t.NextAt != nil:
		parts = append(parts, "next at "+s.leftText(t.NextAt))
	case t.Type == fermata.TriggerSchedule:
		parts = append(parts, "no next time")
	case t.Type == fermata.TriggerWebhook:
		parts = append(parts, "POST "+s.webhookURL(t))
		if !w.HasWebhookSecret {
			parts = append(parts, "without a secret")
		}
	}
	return strings.TrimRight(strings.Join(parts, "  "), " ")
}

func inputText(in fermata.WorkflowInput) string {
	parts := []string{oneLine(in.Name), in.Type}
	if in.Required {
		parts = append(parts, "required")
	}
	if in.Default != nil {
		parts = append(parts, "default "+oneLine(valueText(in.Default)))
	}
	if len(in.Enum) > 0 {
		parts = append(parts, "one of "+oneLine(valueText(in.Enum)))
	}
	if in.Description != "" {
		parts = append(parts, oneLine(in.Description))
	}
	return strings.Join(parts, "  ")
}
