package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// eventsAtOnce bounds how many events are looked at in one transaction.
const eventsAtOnce = 200

// cursorEvery is how far the cursor stays behind while no event triggers
// anything: not every commit costs another one.
const cursorEvery = 1000

// watched is what is known of a workspace's triggers.
type watched struct {
	wake chan struct{}
	// types are the events that workflows follow; nil is not known.
	types map[fermata.EventType]bool
}

// sawEvents is told of commits: there may be triggers among the events.
func (s *Service) sawEvents(events []*fermata.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watched[events[0].WorkspaceID]
	if w == nil {
		return
	}
	for _, e := range events {
		if e.Type == fermata.EventWorkflowChanged || e.Type == fermata.EventWorkflowRemoved {
			w.types = nil
		}
		if w.types != nil && !w.types[e.Type] {
			continue
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// watch looks for triggers among the events of a workspace, until ctx ends.
func (s *Service) watch(ctx context.Context, workspace string) {
	w := &watched{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watched[workspace] = w
	s.mu.Unlock()
	// A wake-up may be lost between replicas.
	tick := time.NewTicker(watchAgain)
	defer tick.Stop()
	for {
		more, err := s.startTriggered(ctx, workspace, w, cursorEvery)
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "look for triggers", "error", err)
			pause(ctx, afterError)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-tick.C:
		}
	}
}

// startAllTriggered starts the runs that the events until now trigger.
func (s *Service) startAllTriggered(ctx context.Context, workspace string) error {
	for {
		if more, err := s.startTriggered(ctx, workspace, &watched{}, 1); err != nil || !more {
			return err
		}
	}
}

// startTriggered starts the runs that the next events trigger, and reports
// whether there is more to look at. Without any it moves the cursor on when it
// is that many events behind.
func (s *Service) startTriggered(ctx context.Context, workspace string, w *watched, behind int64) (bool, error) {
	// Before the workflows are read: one that is changed meanwhile makes them
	// unknown again.
	types := map[fermata.EventType]bool{}
	s.mu.Lock()
	w.types = types
	s.mu.Unlock()
	r := s.db.In(ctx, workspace)
	seen, err := r.TriggersSeen()
	if err != nil || seen < 0 {
		return false, err
	}
	workflows, err := r.Workflows()
	if err != nil {
		return false, err
	}
	following := s.following(r, workflows)
	s.mu.Lock()
	for t := range following {
		types[t] = true
	}
	s.mu.Unlock()
	// After the types are known: an event that comes now wakes again.
	head, err := r.Head()
	if err != nil || head.Seq <= seen {
		return false, err
	}
	events, upTo, err := triggering(r, seen, head.Seq, slices.Collect(maps.Keys(types)))
	if err != nil || len(events) == 0 && upTo-seen < behind {
		return false, err
	}
	more := upTo < head.Seq
	err = s.db.Write(ctx, workspace, func(tx *store.Tx) error {
		now, err := tx.TriggersSeen()
		if err != nil || now != seen {
			// Another process was first, and may not have come as far.
			more = true
			return err
		}
		stored, err := tx.Workflows()
		if err != nil {
			return err
		}
		if !slices.EqualFunc(stored, workflows, sameTriggers) {
			more = true
			return nil
		}
		for _, e := range events {
			for _, f := range following[e.Type] {
				if err := s.fireEvent(tx, f, e); err != nil {
					return err
				}
			}
		}
		tx.SetTriggersSeen(upTo)
		return nil
	})
	return err == nil && more, err
}

// triggering reads the events of the types behind one, and up to which event
// there are no others.
func triggering(r store.Reader, behind, upTo int64, types []fermata.EventType) ([]*fermata.Event, int64, error) {
	if len(types) == 0 {
		return nil, upTo, nil
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	events, err := r.Events(store.EventFilter{After: behind, Before: upTo + 1, Types: names, Limit: eventsAtOnce})
	if len(events) == eventsAtOnce {
		upTo = events[eventsAtOnce-1].Seq
	}
	return events, upTo, err
}

// follower is a trigger that an event may set off.
type follower struct {
	def      *definition.Workflow
	workflow *fermata.Workflow
	trigger  *definition.Trigger
}

// following lists the triggers of the workflows by the type of event.
func (s *Service) following(r store.Reader, workflows []*fermata.Workflow) map[fermata.EventType][]follower {
	byType := map[fermata.EventType][]follower{}
	for _, w := range workflows {
		if !w.Enabled {
			continue
		}
		d, err := s.loadPinned(r, w.Name, w.Hash)
		if err != nil {
			s.Log.Warn("a workflow cannot be read", "workflow", w.Name, "error", err)
			continue
		}
		for i := range d.Triggers {
			t := &d.Triggers[i]
			switch t.Type {
			case definition.Event:
				byType[fermata.EventType(t.EventType)] = append(byType[fermata.EventType(t.EventType)], follower{d, w, t})
			case definition.LabelAdded:
				byType[fermata.EventLabelAdded] = append(byType[fermata.EventLabelAdded], follower{d, w, t})
			case definition.Deployment:
				byType[fermata.EventDeploymentRequested] = append(byType[fermata.EventDeploymentRequested], follower{d, w, t})
			}
		}
	}
	return byType
}

// sameTriggers reports whether two readings of a workflow follow the same events.
func sameTriggers(a, b *fermata.Workflow) bool {
	return a.Name == b.Name && a.Hash == b.Hash && a.Enabled == b.Enabled
}

// fireEvent starts a run by an event, once. A workflow never follows itself, not
// by way of others, either: what its own runs do would start it again without end.
func (s *Service) fireEvent(tx *store.Tx, f follower, e *fermata.Event) error {
	cause := object(e.Data)
	ofGitHub := e.Type == fermata.EventLabelAdded || e.Type == fermata.EventDeploymentRequested
	if cause["workflow"] == f.def.Name && !ofGitHub {
		return nil
	}
	if e.TaskID != "" {
		if _, own, err := ownRun(tx, e.TaskID, f.def.Name); err != nil || own != "" {
			return err
		}
	}
	switch f.trigger.Type {
	case definition.LabelAdded:
		return s.fireLabel(tx, f, e, cause)
	case definition.Deployment:
		return s.fireDeployment(tx, f, e, cause)
	}
	if hears, err := hears(tx, f.workflow, e); err != nil || !hears {
		return err
	}
	cause = map[string]any{
		"type": string(fermata.TriggerEvent), "event": string(e.Type), "seq": e.Seq, "task_id": e.TaskID, "question_id": e.QuestionID, "data": cause,
		"actor": map[string]any{"kind": string(e.Actor.Kind), "name": e.Actor.Name}, "at": e.At.Format(time.RFC3339),
	}
	if e.TaskID == "" {
		// Who reads the runs of the project does not read what is told of people, tokens and other projects.
		cause["data"] = map[string]any{}
	}
	behind, err := personBehind(tx, e)
	if err != nil {
		return err
	}
	about, err := ofRun(tx, e.TaskID)
	if err != nil {
		return err
	}
	maps.Copy(cause, about)
	return s.fireBy(tx, f.def, f.workflow, f.trigger, firing{
		trigger: fermata.TriggerEvent, cause: cause, behind: behind, follows: e.TaskID, key: fmt.Sprintf("event/%s/%d/%d", f.def.Name, f.trigger.Index, e.Seq),
	})
}

// personBehind returns the person behind an event: who did what it tells, else who started the run of a workflow to which it
// happened, or made the task. It returns nil where nobody is known. This person may not approve what the run asks where votes
// are counted, no more than one who starts it by hand.
func personBehind(tx *store.Tx, e *fermata.Event) (*fermata.Actor, error) {
	if e.Actor.Kind == fermata.ActorHuman {
		return &e.Actor, nil
	}
	if e.TaskID == "" {
		return nil, nil
	}
	first, _, err := ownRun(tx, e.TaskID, "")
	if err != nil {
		return nil, err
	}
	if first != nil && first.StartedBy != nil {
		return first.StartedBy, nil
	}
	t, err := tx.Task(e.TaskID)
	if err != nil || t.CreatedBy.Kind != fermata.ActorHuman {
		return nil, err
	}
	return &t.CreatedBy, nil
}

// hears reports whether a workflow may learn of an event: of one in its own project, since
// whoever reads the project reads what its runs were started by. What belongs to no task is
// of the whole workspace, and for workflows of the default project.
func hears(tx *store.Tx, w *fermata.Workflow, e *fermata.Event) (bool, error) {
	if e.TaskID == "" {
		return w.Project == fermata.DefaultProject, nil
	}
	t, err := tx.Task(e.TaskID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return err == nil && t.Project == w.Project, err
}

// ofRun is what a trigger knows of the run of a workflow to which an event happened: its workflow, its inputs, and the issue
// that it is about, so that what follows it finds the issue, too. The workflow is null where the task is no run.
func ofRun(tx *store.Tx, id string) (map[string]any, error) {
	none := map[string]any{"workflow": nil}
	if id == "" {
		return none, nil
	}
	t, err := tx.Task(id)
	if err != nil || t.Runner != fermata.RunnerWorkflow {
		return none, err
	}
	run, err := tx.WorkflowRun(id)
	if err != nil {
		return none, err
	}
	inputs, cause := object(run.Inputs), object(run.Cause)
	about := map[string]any{"workflow": run.Workflow, "inputs": inputs}
	for _, from := range []map[string]any{cause, inputs} {
		for _, name := range []string{"issue", "repository"} {
			if v := from[name]; v != nil {
				about[name] = v
			}
		}
	}
	return about, nil
}

// fireLabel starts a run by a label. While a run for the same issue and label is
// open, no other one starts.
func (s *Service) fireLabel(tx *store.Tx, f follower, e *fermata.Event, cause map[string]any) error {
	name, _ := cause["label"].(string)
	repository, _ := cause["repository"].(string)
	// GitHub tells no case apart.
	if !strings.EqualFold(name, f.trigger.Label) || !f.trigger.IsOf(repository) {
		return nil
	}
	cause["type"] = string(fermata.TriggerLabel)
	behind, err := personBehind(tx, e)
	if err != nil {
		return err
	}
	return s.fireBy(tx, f.def, f.workflow, f.trigger, firing{
		trigger: fermata.TriggerLabel, cause: cause, behind: behind, key: fmt.Sprintf("label/%s/%d/%d", f.def.Name, f.trigger.Index, e.Seq),
		apart: strings.ToLower(fmt.Sprintf("label/%s/%v/%s", repository, cause["issue"], name)),
	})
}

// fireDeployment starts a run by a job that waits to deploy, once for each deployment.
func (s *Service) fireDeployment(tx *store.Tx, f follower, e *fermata.Event, cause map[string]any) error {
	environment, _ := cause["environment"].(string)
	repository, _ := cause["repository"].(string)
	// GitHub tells no case apart.
	isNamed := f.trigger.Environment == definition.AnyEnvironment || strings.EqualFold(environment, f.trigger.Environment)
	if !isNamed || !f.trigger.IsOf(repository) {
		return nil
	}
	cause["type"] = string(fermata.TriggerDeployment)
	behind, err := personBehind(tx, e)
	if err != nil {
		return err
	}
	return s.fireBy(tx, f.def, f.workflow, f.trigger, firing{
		trigger: fermata.TriggerDeployment, cause: cause, behind: behind, key: fmt.Sprintf("deployment/%s/%d/%d", f.def.Name, f.trigger.Index, e.Seq),
		// GitHub takes one decision for all that a run of Actions deploys to an environment. So a question about an earlier attempt
		// must not be answered by whoever began a later one.
		apart: strings.ToLower(fmt.Sprintf("deployment/%s/%v/%s", repository, cause["run"], environment)), replaces: true,
	})
}
