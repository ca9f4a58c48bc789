package workflow

import (
	"context"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type listCommand struct{}

func (listCommand) Help() string {
	return `Examples:

    fermata workflow list
    fermata workflow list --json | jq -r '.[].name'`
}

func (c *listCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	all, err := server.Workflows(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "NAME"}, {Head: "STATE"}, {Head: "PROJECT", Flex: true}, {Head: "STARTED BY", Flex: true}, {Head: "NEXT"}, {Head: "LAST RUN"}, {Head: "AGO"}}}
	for _, w := range all {
		next, state, ago := "", "", ""
		if at := nextRunAt(w.Triggers); at != nil {
			next = s.LeftText(at)
		}
		if w.LastRun != nil {
			state, ago = runState(w.LastRun), s.AgoText(w.LastRun.CreatedAt)
		}
		t.Add(w.Name, enabledText(w), w.Project, triggersText(w.Triggers), next, state, ago)
	}
	s.PrintTable(t, "there are no workflows; fermata workflow put FILE stores one")
	return nil
}

// nextRunAt returns the time of the next scheduled run, or nil if there is none.
func nextRunAt(triggers []fermata.WorkflowTrigger) *time.Time {
	var first *time.Time
	for _, t := range triggers {
		if t.NextAt != nil && (first == nil || t.NextAt.Before(*first)) {
			first = t.NextAt
		}
	}
	return first
}

// triggersText returns a short list of the triggers.
func triggersText(triggers []fermata.WorkflowTrigger) string {
	var list []string
	for _, t := range triggers {
		text := string(t.Type)
		if t.Text != "" {
			text += " " + t.Text
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// runState returns the state of a run, with the reason if there is one.
func runState(r *fermata.WorkflowRun) string {
	if r.Reason == "" {
		return string(r.State)
	}
	return string(r.State) + " (" + terminal.OneLine(r.Reason) + ")"
}

type runsCommand struct {
	Workflow string              `arg:"" optional:"" complete:"workflow" help:"Runs of this workflow (default: of all)."`
	State    []fermata.TaskState `placeholder:"STATE" help:"Runs in these states."`
	Open     bool                `help:"Runs that have not ended."`
	Trigger  fermata.TriggerType `enum:",label_added,deployment,schedule,webhook,manual,event,workflow" default:"" placeholder:"TRIGGER" help:"Started by label_added, deployment, schedule, webhook, manual, event or workflow."`
	Project  string              `help:"Of this project."`
	Limit    session.Quantity    `default:"50" help:"How many at most."`
}

func (runsCommand) Help() string {
	return `Examples:

    fermata workflow runs
    fermata workflow runs autofix --state failed
    fermata workflow runs --open
    fermata workflow runs --trigger schedule --json | jq -r '.[].id'`
}

func (c *runsCommand) Run(ctx context.Context, s *session.Session) error {
	q := client.WorkflowRunQuery{Workflow: c.Workflow, State: c.State, Trigger: c.Trigger, Project: c.Project}
	if c.Open {
		for _, state := range fermata.TaskStates {
			if !state.IsEnded() {
				q.State = append(q.State, state)
			}
		}
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	list, more, err := session.CollectPages(int(c.Limit), func(cursor string, n int) ([]*fermata.WorkflowRun, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.WorkflowRuns(ctx, q)
	})
	if err != nil {
		return err
	}
	defer s.PrintMoreHint(more, len(list))
	if s.JSON {
		return s.WriteJSON(list)
	}
	s.PrintTable(runTable(s, list), "no run fits; fermata workflow run NAME starts one")
	return nil
}

// runTable returns a table of runs, newest first.
func runTable(s *session.Session, list []*fermata.WorkflowRun) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{{Head: "ID"}, {Head: "STATE"}, {Head: "WORKFLOW"}, {Head: "AT STEP", Flex: true}, {Head: "STARTED BY"}, {Head: "AGO"}, {Head: "TOOK"}, {Head: "TITLE", Flex: true}}}
	for _, r := range list {
		step := r.Step
		if r.State.IsEnded() {
			step = ""
		}
		t.Add(s.IDText(r.ID), runState(r), r.Workflow, step, starterText(s, r), s.AgoText(r.CreatedAt), durationText(s, r.CreatedAt, r.EndedAt), r.Title)
	}
	return t
}

// starterText returns the trigger of a run. On a terminal it adds the person behind it.
func starterText(s *session.Session, r *fermata.WorkflowRun) string {
	if s.OutTerm {
		return originText(r)
	}
	return string(r.Trigger)
}

// originText returns the trigger of a run and the person behind it. If a person or another workflow started the run, it
// returns only the starter.
func originText(r *fermata.WorkflowRun) string {
	switch {
	case r.StartedBy == nil:
		return string(r.Trigger)
	case r.Trigger == fermata.TriggerManual || r.Trigger == fermata.TriggerWorkflow:
		return render.ActorName(*r.StartedBy)
	default:
		return string(r.Trigger) + " (" + render.ActorName(*r.StartedBy) + ")"
	}
}

// durationText returns the duration from an instant to its end, or so far.
func durationText(s *session.Session, from time.Time, to *time.Time) string {
	end := s.Now()
	if to != nil {
		end = *to
	}
	return terminal.FormatDuration(end.Sub(from))
}
