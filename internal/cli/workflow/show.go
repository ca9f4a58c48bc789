package workflow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type showCommand struct {
	Word   string `arg:"" name:"name|run" complete:"workflow,run" help:"Name of a workflow, or a run."`
	Watch  bool   `short:"w" help:"Of a run: go on until it has ended, and redraw it as it changes."`
	Source bool   `help:"Of a workflow: print the definition alone."`
	Hash   string `placeholder:"HASH" help:"Of a workflow: the definition that had this hash."`
	Plain  bool   `help:"Plain letters instead of symbols."`
}

func (showCommand) Help() string {
	return `Of a workflow: what starts it and when, its inputs, its steps, its last runs. Of a run: each step with its state, how long it took, what came of it, and the question that it waits for. Outputs are cut short; --json has all of them.

Examples:

    fermata workflow show autofix
    fermata workflow show autofix --source > autofix.yaml
    fermata workflow show 3f9k2a --watch
    fermata workflow show 3f9k2a --json | jq '.steps[] | {step, state, output}'`
}

// maxShownRuns is the number of last runs that are shown with a workflow.
const maxShownRuns = 5

func (c *showCommand) Run(ctx context.Context, s *session.Session) error {
	w, run, err := findWorkflowOrRun(ctx, s, c.Word)
	if err != nil {
		return err
	}
	if run != nil {
		if err := session.CheckUnreadFlags("a run", map[string]bool{"--source": c.Source, "--hash": c.Hash != ""}); err != nil {
			return err
		}
		return c.showRun(ctx, s, run)
	}
	if c.Watch {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--watch is for runs, and %q is a workflow", c.Word).
			WithHint("fermata workflow runs %s lists its runs", c.Word)
	}
	if c.Hash != "" {
		if w, err = s.Client.Workflow(ctx, w.Name, c.Hash); err != nil {
			return err
		}
	}
	if c.Source {
		_, err := s.Out.Write([]byte(w.Source))
		return err
	}
	if s.JSON {
		return s.WriteJSON(w)
	}
	runs, _, err := s.Client.WorkflowRuns(ctx, client.WorkflowRunQuery{Workflow: w.Name, Limit: maxShownRuns})
	if err != nil {
		return err
	}
	showWorkflow(s, w, drawing.ChooseMarks(&s.Console, c.Plain))
	if len(runs) > 0 {
		s.Stdout().Line("\nLast runs")
		s.PrintTable(runTable(s, runs), "")
	}
	return nil
}

func (c *showCommand) showRun(ctx context.Context, s *session.Session, run *fermata.WorkflowRun) error {
	v := &runView{s: s, id: run.ID, marks: drawing.ChooseMarks(&s.Console, c.Plain)}
	if c.Watch {
		return drawing.Watch(ctx, s, v)
	}
	if err := v.Read(ctx); err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(v.run)
	}
	for _, line := range drawing.Lines(s, v) {
		s.Stdout().Line("%s", line)
	}
	return nil
}

// showWorkflow prints a workflow.
func showWorkflow(s *session.Session, w *fermata.Workflow, m drawing.Marks) {
	p := s.Stdout()
	p.PrintTitle(w.Name)
	p.Line("%s", p.Dim(fmt.Sprintf("%s · project %s · definition %s, stored by %s %s",
		enabledText(w), terminal.OneLine(w.Project), terminal.ShortHash(w.Hash), render.ActorName(w.UpdatedBy), sinceText(s, w.UpdatedAt))))
	p.PrintQuoted("", w.Description)
	p.Line("\nStarted by")
	for _, t := range w.Triggers {
		p.Line("  %s", triggerText(s, w, t))
	}
	if len(w.Triggers) == 0 {
		p.Line("  nothing but other workflows")
	}
	if len(w.Inputs) > 0 {
		p.Line("\nInputs")
	}
	for _, in := range w.Inputs {
		p.Line("  %s", s.Fit(inputText(in)))
	}
	p.Line("\nSteps")
	printGraph(s, w.Graph, m, "  ")
	if len(w.Warnings) > 0 {
		p.Line("")
		printProblems(p, w.Name, w.Warnings)
	}
}

// sinceText returns the time since an instant for people, and the instant for
// scripts.
func sinceText(s *session.Session, t time.Time) string {
	if s.OutTerm {
		return s.AgoText(t) + " ago"
	}
	return s.AgoText(t)
}

func triggerText(s *session.Session, w *fermata.Workflow, t fermata.WorkflowTrigger) string {
	parts := []string{fmt.Sprintf("%-11s", t.Type)}
	if t.Text != "" {
		parts = append(parts, terminal.OneLine(t.Text))
	}
	switch {
	case t.NextAt != nil && s.OutTerm:
		parts = append(parts, "next in "+s.LeftText(t.NextAt))
	case t.NextAt != nil:
		parts = append(parts, "next at "+s.LeftText(t.NextAt))
	case t.Type == fermata.TriggerSchedule:
		parts = append(parts, "no next time")
	case t.Type == fermata.TriggerWebhook:
		parts = append(parts, "POST "+webhookURL(s, t))
		if !w.HasWebhookSecret && t.Text != fermata.UnsignedWebhook {
			parts = append(parts, "without a secret")
		}
	}
	return strings.TrimRight(strings.Join(parts, "  "), " ")
}

func inputText(in fermata.WorkflowInput) string {
	parts := []string{terminal.OneLine(in.Name), in.Type}
	if in.Required {
		parts = append(parts, "required")
	}
	if in.Default != nil {
		parts = append(parts, "default "+terminal.OneLine(render.ValueText(in.Default)))
	}
	if len(in.Enum) > 0 {
		parts = append(parts, "one of "+terminal.OneLine(render.ValueText(in.Enum)))
	}
	if in.Description != "" {
		parts = append(parts, terminal.OneLine(in.Description))
	}
	return strings.Join(parts, "  ")
}
