package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// eventsAtOnce limits how many events are processed in one transaction.
const eventsAtOnce = 200

// maxCursorLag is how many events the cursor stays behind while no event triggers a run. Without it, every commit would
// cost another commit.
const maxCursorLag = 1000

// workspaceWatch holds what the watcher of one workspace shares with the goroutines that commit.
type workspaceWatch struct {
	wake chan struct{}
	// types are the event types that workflows follow; nil if they are not known.
	types map[fermata.EventType]bool
}

// wakeWatcher wakes the watcher of a workspace if a commit contains events that may trigger a run.
func (s *Service) wakeWatcher(events []*fermata.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches[events[0].WorkspaceID]
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

// watch starts the runs that events of a workspace trigger, until ctx ends.
func (s *Service) watch(ctx context.Context, workspace string) {
	w := &workspaceWatch{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watches[workspace] = w
	s.mu.Unlock()
	// A wake-up may be lost between replicas.
	tick := time.NewTicker(eventRescanInterval)
	defer tick.Stop()
	for {
		more, err := s.startTriggered(ctx, workspace, w, maxCursorLag)
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "look for triggers", "error", err)
			engine.Sleep(ctx, errorDelay)
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

// startAllTriggered starts the runs that all events so far trigger.
func (s *Service) startAllTriggered(ctx context.Context, workspace string) error {
	for {
		if more, err := s.startTriggered(ctx, workspace, &workspaceWatch{}, 1); err != nil || !more {
			return err
		}
	}
}

// startTriggered starts the runs that the next events trigger, and reports whether there are more events to process. If
// no event triggers a run, it moves the cursor only if the cursor is late by at least minLag events.
func (s *Service) startTriggered(ctx context.Context, workspace string, w *workspaceWatch, minLag int64) (bool, error) {
	// Set this before the workflows are read. If a workflow changes meanwhile, w.types becomes nil again.
	types := map[fermata.EventType]bool{}
	s.mu.Lock()
	w.types = types
	s.mu.Unlock()
	r := s.db.Reader(ctx, workspace)
	seen, err := r.TriggerCursor()
	if err != nil || seen < 0 {
		return false, err
	}
	workflows, err := r.Workflows()
	if err != nil {
		return false, err
	}
	following := s.triggersByEvent(r, workflows)
	s.mu.Lock()
	for t := range following {
		types[t] = true
	}
	s.mu.Unlock()
	// Read this after the types are known, because an event from now on causes a wake-up.
	head, err := r.Head()
	if err != nil || head.Seq <= seen {
		return false, err
	}
	events, upTo, err := triggeringEvents(r, seen, head.Seq, slices.Collect(maps.Keys(types)))
	if err != nil || len(events) == 0 && upTo-seen < minLag {
		return false, err
	}
	more := upTo < head.Seq
	err = s.db.Write(ctx, workspace, func(tx *store.Tx) error {
		now, err := tx.TriggerCursor()
		if err != nil || now != seen {
			// Another process was first, and may have processed fewer events.
			more = true
			return err
		}
		stored, err := tx.Workflows()
		if err != nil {
			return err
		}
		if !slices.EqualFunc(stored, workflows, hasSameTriggers) {
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
		tx.SetTriggerCursor(upTo)
		return nil
	})
	return err == nil && more, err
}

// triggeringEvents returns the events of the given types after the event with the number afterSeq. It also returns the
// number of the last event that was searched.
func triggeringEvents(r store.Reader, afterSeq, upTo int64, types []fermata.EventType) ([]*fermata.Event, int64, error) {
	if len(types) == 0 {
		return nil, upTo, nil
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	events, err := r.Events(store.EventFilter{After: afterSeq, Before: upTo + 1, Types: names, Limit: eventsAtOnce})
	if len(events) == eventsAtOnce {
		upTo = events[eventsAtOnce-1].Seq
	}
	return events, upTo, err
}

// follower is a trigger that an event may fire.
type follower struct {
	def      *definition.Workflow
	workflow *fermata.Workflow
	trigger  *definition.Trigger
}

// triggersByEvent returns the triggers of the workflows by the type of event.
func (s *Service) triggersByEvent(r store.Reader, workflows []*fermata.Workflow) map[fermata.EventType][]follower {
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

// hasSameTriggers reports whether two versions of a workflow follow the same events.
func hasSameTriggers(a, b *fermata.Workflow) bool {
	return a.Name == b.Name && a.Hash == b.Hash && a.Enabled == b.Enabled
}

// fireEvent starts a run by an event, once. A workflow never follows its own runs, not even through other workflows.
// Otherwise its own events would start it again without end.
func (s *Service) fireEvent(tx *store.Tx, f follower, e *fermata.Event) error {
	cause := decodeObject(e.Data)
	isGitHubEvent := e.Type == fermata.EventLabelAdded || e.Type == fermata.EventDeploymentRequested
	if cause["workflow"] == f.def.Name && !isGitHubEvent {
		return nil
	}
	if e.TaskID != "" {
		if _, ownRunID, err := findAncestorRuns(tx.Reader, e.TaskID, f.def.Name); err != nil || ownRunID != "" {
			return err
		}
	}
	switch f.trigger.Type {
	case definition.LabelAdded:
		return s.fireLabel(tx, f, e, cause)
	case definition.Deployment:
		return s.fireDeployment(tx, f, e, cause)
	}
	if isAllowed, err := mayFollow(tx, f.workflow, e); err != nil || !isAllowed {
		return err
	}
	cause = map[string]any{
		"type": string(fermata.TriggerEvent), "event": string(e.Type), "seq": e.Seq, "task_id": e.TaskID, "question_id": e.QuestionID, "data": cause,
		"actor": map[string]any{"kind": string(e.Actor.Kind), "name": e.Actor.Name}, "at": e.At.Format(time.RFC3339),
	}
	if e.TaskID == "" {
		// Such an event is about people, tokens or other projects. Readers of this project's runs must not see its
		// data.
		cause["data"] = map[string]any{}
	}
	person, err := personBehind(tx, e)
	if err != nil {
		return err
	}
	fields, err := runInfo(tx, e.TaskID)
	if err != nil {
		return err
	}
	maps.Copy(cause, fields)
	return s.fireTrigger(tx, f.def, f.workflow, f.trigger, firing{
		trigger: fermata.TriggerEvent, cause: cause, causedBy: person, eventTaskID: e.TaskID, key: fmt.Sprintf("event/%s/%d/%d", f.def.Name, f.trigger.Index, e.Seq),
	})
}

// personBehind returns the person behind an event: the actor of the event, else the person that started its workflow
// run or created its task. It returns nil if no person is known. Where votes are counted, this person may not approve
// the run's requests, just as a person that starts the run by hand may not.
func personBehind(tx *store.Tx, e *fermata.Event) (*fermata.Actor, error) {
	if e.Actor.Kind == fermata.ActorHuman {
		return &e.Actor, nil
	}
	if e.TaskID == "" {
		return nil, nil
	}
	first, _, err := findAncestorRuns(tx.Reader, e.TaskID, "")
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

// mayFollow reports whether a workflow may follow an event. It may follow events of its own project, because readers of the
// project also read what started its runs. Events without a task belong to the whole workspace, and only workflows of
// the default project may follow them.
func mayFollow(tx *store.Tx, w *fermata.Workflow, e *fermata.Event) (bool, error) {
	if e.TaskID == "" {
		return w.Project == fermata.DefaultProject, nil
	}
	t, err := tx.Task(e.TaskID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return err == nil && t.Project == w.Project, err
}

// runInfo returns the trigger's data about the workflow run of an event: its workflow, its inputs, and the issue that it
// is about. The run that follows then finds the issue, too. The workflow is null if the task is no workflow run.
func runInfo(tx *store.Tx, id string) (map[string]any, error) {
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
	inputs, cause := decodeObject(run.Inputs), decodeObject(run.Cause)
	info := map[string]any{"workflow": run.Workflow, "inputs": inputs}
	for _, source := range []map[string]any{cause, inputs} {
		for _, name := range []string{"issue", "repository"} {
			if v := source[name]; v != nil {
				info[name] = v
			}
		}
	}
	return info, nil
}

// fireLabel starts a run by a label. While a run for the same issue and label is open, no other one starts.
func (s *Service) fireLabel(tx *store.Tx, f follower, e *fermata.Event, cause map[string]any) error {
	name, _ := cause["label"].(string)
	repository, _ := cause["repository"].(string)
	// GitHub ignores case in names.
	if !strings.EqualFold(name, f.trigger.Label) || !f.trigger.IsForRepository(repository) {
		return nil
	}
	cause["type"] = string(fermata.TriggerLabel)
	person, err := personBehind(tx, e)
	if err != nil {
		return err
	}
	return s.fireTrigger(tx, f.def, f.workflow, f.trigger, firing{
		trigger: fermata.TriggerLabel, cause: cause, causedBy: person, key: fmt.Sprintf("label/%s/%d/%d", f.def.Name, f.trigger.Index, e.Seq),
		defaultKey: strings.ToLower(fmt.Sprintf("label/%s/%v/%s", repository, cause["issue"], name)),
	})
}

// fireDeployment starts a run by a job that waits to deploy, once for each deployment.
func (s *Service) fireDeployment(tx *store.Tx, f follower, e *fermata.Event, cause map[string]any) error {
	environment, _ := cause["environment"].(string)
	repository, _ := cause["repository"].(string)
	// GitHub ignores case in names.
	isNamed := f.trigger.Environment == definition.AnyEnvironment || strings.EqualFold(environment, f.trigger.Environment)
	if !isNamed || !f.trigger.IsForRepository(repository) {
		return nil
	}
	cause["type"] = string(fermata.TriggerDeployment)
	person, err := personBehind(tx, e)
	if err != nil {
		return err
	}
	return s.fireTrigger(tx, f.def, f.workflow, f.trigger, firing{
		trigger: fermata.TriggerDeployment, cause: cause, causedBy: person, key: fmt.Sprintf("deployment/%s/%d/%d", f.def.Name, f.trigger.Index, e.Seq),
		// GitHub takes one decision for everything that a run of Actions deploys to an environment. So the question
		// about an earlier attempt must close. Otherwise the person that started a later attempt could answer it.
		defaultKey: strings.ToLower(fmt.Sprintf("deployment/%s/%v/%s", repository, cause["run"], environment)), cancelsOpen: true,
	})
}
