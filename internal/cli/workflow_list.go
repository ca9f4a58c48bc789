package cli

import (
	"context"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type workflowListCommand struct{}

func (workflowListCommand) Help() string {
	return `Examples:

    fermata workflow list
    fermata workflow list --json | jq -r '.[].name'`
}

func (c *workflowListCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	all, err := server.Workflows(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(all)
	}
	t := &table{columns: []column{{head: "NAME"}, {head: "STATE"}, {head: "PROJECT", flex: true}, {head: "STARTED BY", flex: true}, {head: "NEXT"}, {head: "LAST RUN"}, {head: "AGO"}}}
	for _, w := range all {
		next, state, ago := "", "", ""
		if at := nextRunAt(w.Triggers); at != nil {
			next = s.leftText(at)
		}
		if w.LastRun != nil {
			state, ago = runState(w.LastRun), s.agoText(w.LastRun.CreatedAt)
		}
		t.add(w.Name, enabledText(w), w.Project, triggersText(w.Triggers), next, state, ago)
	}
	s.printTable(t, "there are no workflows; fermata workflow put FILE stores one")
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
	return string(r.State) + " (" + oneLine(r.Reason) + ")"
}

type workflowRunsCommand struct {
	Workflow string              `arg:"" optional:"" complete:"workflow" help:"Runs of this workflow (default: of all)."`
	State    []fermata.TaskState `placeholder:"STATE" help:"Runs in these states."`
	Open     bool                `help:"Runs that have not ended."`
	Trigger  fermata.TriggerType `enum:",label_added,deployment,schedule,webhook,manual,event,workflow" default:"" placeholder:"TRIGGER" help:"Started by label_added, deployment, schedule, webhook, manual, event or workflow."`
	Project  string              `help:"Of this project."`
	Limit    quantity            `default:"50" help:"How many at most."`
}

func (workflowRunsCommand) Help() string {
	return `Examples:

    fermata workflow runs
    fermata workflow runs autofix --state failed
    fermata workflow runs --open
    fermata workflow runs --trigger schedule --json | jq -r '.[].id'`
}

func (c *workflowRunsCommand) Run(ctx context.Context, s *session) error {
	q := client.WorkflowRunQuery{Workflow: c.Workflow, State: c.State, Trigger: c.Trigger, Project: c.Project}
	if c.Open {
		for _, state := range fermata.TaskStates {
			if !state.IsEnded() {
				q.State = append(q.State, state)
			}
		}
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	list, more, err := collectPages(int(c.Limit), func(cursor string, n int) ([]*fermata.WorkflowRun, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.WorkflowRuns(ctx, q)
	})
	if err != nil {
		return err
	}
	defer s.printMoreHint(more, len(list))
	if s.JSON {
		return s.writeJSON(list)
	}
	s.printTable(s.runTable(list), "no run fits; fermata workflow run NAME starts one")
	return nil
}

// runTable returns a table of runs, newest first.
func (s *session) runTable(list []*fermata.WorkflowRun) *table {
	t := &table{columns: []column{{head: "ID"}, {head: "STATE"}, {head: "WORKFLOW"}, {head: "AT STEP", flex: true}, {head: "STARTED BY"}, {head: "AGO"}, {head: "TOOK"}, {head: "TITLE", flex: true}}}
	for _, r := range list {
		step := r.Step
		if r.State.IsEnded() {
			step = ""
		}
		t.add(s.idText(r.ID), runState(r), r.Workflow, step, s.starterText(r), s.agoText(r.CreatedAt), s.durationText(r.CreatedAt, r.EndedAt), r.Title)
	}
	return t
}

// starterText returns the trigger of a run. On a terminal it adds the person behind it.
func (s *session) starterText(r *fermata.WorkflowRun) string {
	if s.outTerm {
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
		return actorName(*r.StartedBy)
	default:
		return string(r.Trigger) + " (" + actorName(*r.StartedBy) + ")"
	}
}

// durationText returns the duration from an instant to its end, or so far.
func (s *session) durationText(from time.Time, to *time.Time) string {
	end := s.now()
	if to != nil {
		end = *to
	}
	return formatDuration(end.Sub(from))
}
