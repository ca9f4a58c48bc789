package workflow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

const (
	// schedulesAtOnce limits how many due schedules are read at once.
	schedulesAtOnce = 500
	// maxParallelSchedules limits how many schedules are started in parallel.
	maxParallelSchedules = 32
	// maxMissed limits how many missed times of a schedule are caught up.
	maxMissed = 100
	// maxCounted limits how many times are counted one by one, because the
	// transaction blocks other writes meanwhile.
	maxCounted = 2000
	// missedAfter is how late a schedule may fire before it counts as missed.
	missedAfter = time.Minute
)

// runSchedules starts the runs of schedules until ctx ends. Any number of processes may do this at once: each scheduled
// time starts only one run.
func (s *Service) runSchedules(ctx context.Context) {
	tick := time.NewTicker(rescanInterval)
	defer tick.Stop()
	for {
		n, err := s.StartDue(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "start what is scheduled", "error", err)
			engine.Sleep(ctx, errorDelay)
		}
		if err == nil && n == schedulesAtOnce {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// StartDue starts the runs of every schedule that is due, and returns how many
// schedules were due.
func (s *Service) StartDue(ctx context.Context) (int, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	due, err := s.db.DueSchedules(ctx, now, schedulesAtOnce)
	if err != nil {
		return 0, err
	}
	// Schedules that are started together share commits. A schedule that cannot
	// be started does not delay the others.
	errs := make([]error, len(due))
	slots := make(chan struct{}, maxParallelSchedules)
	var starting sync.WaitGroup
	for i, sc := range due {
		slots <- struct{}{}
		starting.Go(func() {
			defer func() { <-slots }()
			if err := s.startScheduled(ctx, sc); err != nil {
				errs[i] = fmt.Errorf("schedule of %s: %w", sc.Workflow, err)
			}
		})
	}
	starting.Wait()
	return len(due), errors.Join(errs...)
}

// startScheduled fires one schedule and sets its next time, in one transaction.
func (s *Service) startScheduled(ctx context.Context, sc store.Schedule) error {
	cron, err := definition.ParseCron(sc.Cron, sc.Timezone)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, sc.WorkspaceID, func(tx *store.Tx) error {
		rows, err := tx.Schedules(sc.Workflow)
		if err != nil {
			return err
		}
		var row *store.Schedule
		for i := range rows {
			if rows[i].Trigger == sc.Trigger {
				row = &rows[i]
			}
		}
		if row == nil || row.NextAt == nil || row.NextAt.After(tx.Now()) || row.Cron != sc.Cron || row.Timezone != sc.Timezone {
			// Another process was first, or the definition changed.
			return nil
		}
		for _, at := range dueTimes(cron, row, tx.Now()) {
			if err := s.fireScheduled(tx, row, at); err != nil {
				return err
			}
		}
		if next := cron.Next(tx.Now()); !next.IsZero() {
			tx.SetNextFire(*row, next)
		}
		return nil
	})
}

// dueTimes returns the times for which runs start: the time that is due, and
// the missed times that the schedule's catch-up setting allows.
func dueTimes(cron *definition.Cron, row *store.Schedule, now time.Time) []time.Time {
	var all []time.Time
	oldest := now.Add(-row.CatchupAge)
	counted := 0
	for at := *row.NextAt; !at.After(now) && !at.IsZero(); at = cron.Next(at) {
		if counted++; counted == maxCounted {
			// Only the newest times are started, so the older half of the
			// remaining time is not counted.
			at, counted = at.Add(now.Sub(at)/2), 0
			continue
		}
		if now.Sub(at) >= missedAfter && (row.Catchup == definition.CatchupNone || at.Before(oldest)) {
			if at.Before(oldest) {
				at = oldest
			}
			continue
		}
		if row.Catchup != definition.CatchupAll {
			all = all[:0]
		}
		if all = append(all, at); len(all) > maxMissed {
			all = all[1:]
		}
	}
	return all
}

func (s *Service) fireScheduled(tx *store.Tx, row *store.Schedule, at time.Time) error {
	w, err := tx.Workflow(row.Workflow)
	if err != nil || !w.Enabled {
		return err
	}
	d, err := s.loadPinned(tx.Reader, w.Name, w.Hash)
	if fermata.CodeOf(err) == fermata.CodeInvalidRequest {
		appendSkipEvent(tx, w.Name, fermata.TriggerSchedule, err)
		return nil
	}
	if err != nil {
		return err
	}
	planned := at.UTC().Format(time.RFC3339)
	trigger := triggerAt(d, row.Trigger)
	if trigger == nil {
		return nil
	}
	return s.fireTrigger(tx, d, w, trigger, firing{
		trigger: fermata.TriggerSchedule, key: fmt.Sprintf("schedule/%s/%d/%s", w.Name, row.Trigger, planned),
		cause: map[string]any{"type": string(fermata.TriggerSchedule), "at": planned},
	})
}

func triggerAt(d *definition.Workflow, index int) *definition.Trigger {
	for i := range d.Triggers {
		if d.Triggers[i].Index == index {
			return &d.Triggers[i]
		}
	}
	return nil
}

// fireTrigger starts a run by a trigger of the definition if the trigger's condition
// holds. If the run cannot start, an event says why, because no caller waits
// for the error.
func (s *Service) fireTrigger(tx *store.Tx, d *definition.Workflow, w *fermata.Workflow, t *definition.Trigger, f firing) error {
	f.def, f.workflow = d, w
	skipWith := func(why error) error {
		// Two workflows that follow this event would otherwise trigger each
		// other without end.
		if f.cause["event"] != string(fermata.EventTriggerSkipped) {
			appendSkipEvent(tx, w.Name, f.trigger, why)
		}
		return nil
	}
	env := definition.Env{"trigger": f.cause, definition.NowKey: tx.Now()}
	if t.If != nil {
		holds, err := t.If.Bool(env)
		if err != nil {
			return skipWith(fmt.Errorf("the condition of the trigger: %w", err))
		}
		if !holds {
			return nil
		}
	}
	if why, err := findEventCycle(tx, f.eventTaskID, d.Name); err != nil {
		return err
	} else if why != nil {
		return skipWith(why)
	}
	given, failedInput, err := renderInputs(t, env)
	if err != nil {
		return skipWith(fmt.Errorf("the input %s of the trigger: %w", failedInput, err))
	}
	fillInputs(d, f.cause, given)
	if f.inputs, err = checkInputs(d, given); err != nil {
		return skipWith(err)
	}
	_, err = s.fire(tx, f)
	if fermata.CodeOf(err) == fermata.CodeInvalidRequest {
		return skipWith(err)
	}
	return err
}

// renderInputs renders the inputs that a trigger sets. On an error, failedInput
// is the name of the input.
func renderInputs(t *definition.Trigger, env definition.Env) (given map[string]any, failedInput string, err error) {
	given = map[string]any{}
	for name, v := range t.Inputs {
		if given[name], err = v.Render(env); err != nil {
			return nil, name, err
		}
	}
	return given, "", nil
}

// appendSkipEvent appends an event which says that a trigger started no run, and why.
func appendSkipEvent(tx *store.Tx, name string, trigger fermata.TriggerType, cause error) {
	tx.Append(&fermata.Event{
		Type: fermata.EventTriggerSkipped, Actor: fermata.SystemActor,
		Data: encodeJSON(map[string]any{"workflow": name, "trigger": trigger, "reason": boundText(cause.Error())}),
	})
}

// fillInputs sets each input that the trigger leaves out to the field of the cause with the same name, if the type
// fits. For example, the input "issue" gets the number of the issue.
func fillInputs(d *definition.Workflow, cause, given map[string]any) {
	for _, in := range d.Inputs {
		if _, ok := given[in.Name]; ok {
			continue
		}
		if v, ok := cause[in.Name]; ok && hasType(v, in.Type) {
			given[in.Name] = v
		}
	}
}
