package workflow

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// toWireTriggers returns the triggers of a workflow in their wire form.
func toWireTriggers(w *definition.Workflow) []fermata.WorkflowTrigger {
	all := make([]fermata.WorkflowTrigger, 0, len(w.Triggers))
	for i := range w.Triggers {
		t := &w.Triggers[i]
		out := fermata.WorkflowTrigger{Type: fermata.TriggerType(t.Type)}
		switch t.Type {
		case definition.LabelAdded:
			if out.Text = t.Label; t.Repo != "" {
				out.Text += " in " + t.Repo
			}
		case definition.Deployment:
			if out.Text = t.Environment; t.Repo != "" {
				out.Text += " in " + t.Repo
			}
		case definition.Schedule:
			zone := t.Timezone
			if zone == "" {
				zone = "UTC"
			}
			out.Text = t.Cron + " (" + zone + ")"
		case definition.Webhook:
			if t.Auth == definition.AuthNone {
				out.Text = fermata.UnsignedWebhook
			}
		case definition.Event:
			out.Text = t.EventType
		}
		all = append(all, out)
	}
	return all
}

// toWireInputs returns the inputs of a workflow in their wire form.
func toWireInputs(w *definition.Workflow) []fermata.WorkflowInput {
	all := make([]fermata.WorkflowInput, 0, len(w.Inputs))
	for _, in := range w.Inputs {
		all = append(all, fermata.WorkflowInput{
			Name: in.Name, Type: in.Type, Description: in.Description, Required: in.Required, Default: in.Default, Enum: in.Enum,
		})
	}
	return all
}

// scheduleRows returns the rows of a workflow's schedules. A schedule that has not changed keeps its next time, so
// that a run that is due or was missed still starts.
func scheduleRows(tx *store.Tx, w *definition.Workflow, enabled bool) ([]store.Schedule, error) {
	before, err := tx.Schedules(w.Name)
	if err != nil {
		return nil, err
	}
	var all []store.Schedule
	for i := range w.Triggers {
		t := &w.Triggers[i]
		cron := t.Schedule()
		if cron == nil {
			continue
		}
		row := store.Schedule{
			Workflow: w.Name, Trigger: t.Index, Cron: t.Cron, Timezone: t.Timezone, Catchup: t.Catchup, CatchupAge: t.CatchupAge,
		}
		if next := cron.Next(tx.Now()); enabled && !next.IsZero() {
			row.NextAt = &next
		}
		for _, b := range before {
			if enabled && b.Trigger == row.Trigger && b.Cron == row.Cron && b.Timezone == row.Timezone && b.NextAt != nil {
				row.NextAt = b.NextAt
			}
		}
		all = append(all, row)
	}
	return all, nil
}

func addNextTimes(triggers []fermata.WorkflowTrigger, schedules []store.Schedule) []fermata.WorkflowTrigger {
	for _, s := range schedules {
		if s.Trigger < len(triggers) {
			triggers[s.Trigger].NextAt = s.NextAt
		}
	}
	return triggers
}

// startFollowingEvents sets the trigger cursor to the last event, if this workflow follows events and no workflow did
// before. Earlier events start nothing.
func (s *Service) startFollowingEvents(tx *store.Tx, w *definition.Workflow, enabled bool) error {
	if !enabled || !slices.ContainsFunc(w.Triggers, isStartedByEvents) {
		return nil
	}
	seen, err := tx.TriggerCursor()
	if err != nil || seen >= 0 {
		return err
	}
	head, err := tx.Head()
	if err != nil {
		return err
	}
	tx.SetTriggerCursor(head.Seq)
	return nil
}

// isStartedByEvents reports whether a trigger starts runs by events of Fermata or of GitHub.
func isStartedByEvents(t definition.Trigger) bool {
	return t.Type == definition.Event || t.Type == definition.LabelAdded || t.Type == definition.Deployment
}

// firing describes a run that is about to start.
type firing struct {
	def      *definition.Workflow
	workflow *fermata.Workflow
	trigger  fermata.TriggerType
	// cause is the value that expressions read as trigger.
	cause  map[string]any
	inputs map[string]any
	// startedBy is the actor that starts the run by hand.
	startedBy *fermata.Actor
	// causedBy is the person whose action caused the trigger, or nil if no person is known.
	causedBy *fermata.Actor
	// key makes sure that the run starts only once.
	key string
	// defaultKey is the concurrency key if the definition sets none. With cancelsOpen, the new run cancels the open
	// runs of that key.
	defaultKey  string
	cancelsOpen bool
	// parent is the run to which this one belongs.
	parent string
	// eventTaskID is the task of the event that triggers the run.
	eventTaskID string
	// mustStart makes it an error if no run starts.
	mustStart bool
}

// maxLostProcesses is how often the process of a run may be lost before the run makes progress.
const maxLostProcesses = 10

// fire starts a run and returns its id. If the same key started a run before, it returns the id of that run. If an open
// run prevents the start, it returns "".
func (s *Service) fire(tx *store.Tx, f firing) (string, error) {
	if f.workflow.Project != projectOrDefault(f.def.Project) {
		return "", fermata.Errorf(fermata.CodeInternal, "the workflow %s is in another project than its definition says: it was changed in the database", f.def.Name).
			WithHint("put it again, and look at who writes the database: fermata audit verify")
	}
	if f.key != "" {
		if id, err := tx.FiredRun(f.key); err != nil || id != "" {
			return id, err
		}
	}
	by := fermata.SystemActor
	if f.startedBy != nil {
		by = *f.startedBy
	}
	key, waitFor, err := s.applyConcurrency(tx, f, by)
	if err != nil || key == skippedKey {
		return "", err
	}
	t, err := s.e.CreateTaskInTx(tx, fermata.NewTask{
		Title: titleOf(f), Project: f.workflow.Project, Runner: fermata.RunnerWorkflow, ParentID: f.parent, BlockedBy: waitFor,
		MaxAttempts: maxLostProcesses, Labels: []string{"workflow:" + f.def.Name},
	}, by)
	if err != nil {
		return "", err
	}
	run := &fermata.WorkflowRun{
		ID: t.ID, Workflow: f.def.Name, Hash: f.workflow.Hash, Trigger: f.trigger, Cause: encodeJSON(f.cause), Inputs: encodeJSON(f.inputs),
		StartedBy: cmp.Or(f.startedBy, f.causedBy), FireKey: f.key, ConcurrencyKey: key,
	}
	tx.InsertWorkflowRun(run)
	tx.Append(&fermata.Event{
		Type: fermata.EventWorkflowTriggered, TaskID: t.ID, Actor: by,
		Data: encodeJSON(map[string]any{"workflow": f.def.Name, "trigger": f.trigger, "hash": f.workflow.Hash}),
	})
	return t.ID, nil
}

// maxKeyLength is the longest text that a key column holds unhashed, in bytes.
const maxKeyLength = 200

// hashLongKey returns a text from outside as a key of a row. A text that is too long for an index, or that a database does
// not accept as text, is replaced by its hash.
func hashLongKey(text string) string {
	if len(text) <= maxKeyLength && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// skippedKey is the key of a run that does not start.
const skippedKey = "\x00skipped"

// applyConcurrency applies the rules for runs that must not run at the same time. It returns the concurrency key, and
// the runs to wait for. If the run must not start, the key is skippedKey.
func (s *Service) applyConcurrency(tx *store.Tx, f firing, by fermata.Actor) (key string, waitFor []string, err error) {
	policy := definition.Skip
	switch c := f.def.Concurrency; {
	case c != nil:
		rendered, err := c.Key.Render(definition.Env{"inputs": f.inputs, "trigger": f.cause})
		if err != nil {
			return "", nil, err
		}
		key, policy = f.def.Name+"/"+hashLongKey(fmt.Sprint(rendered)), c.Policy
	case f.defaultKey != "":
		key = f.def.Name + "/" + f.defaultKey
		if f.cancelsOpen {
			policy = definition.CancelPrevious
		}
	default:
		return "", nil, nil
	}
	open, err := tx.OpenRunsByConcurrencyKey(key)
	if err != nil || len(open) == 0 {
		return key, nil, err
	}
	switch policy {
	case definition.Queue:
		return key, open, nil
	case definition.CancelPrevious:
		for _, id := range open {
			if err := s.e.CancelTaskInTx(tx, id, "a newer run took its place", by); err != nil {
				return "", nil, err
			}
		}
		return key, nil, nil
	}
	if f.mustStart {
		return "", nil, fermata.Errorf(fermata.CodeIllegalTransition, "run %s of the workflow %s is still open", open[0], f.def.Name).
			WithHint("wait for it, cancel it, or set concurrency.policy to queue")
	}
	tx.Append(&fermata.Event{
		Type: fermata.EventTriggerSkipped, TaskID: open[0], Actor: fermata.SystemActor,
		Data: encodeJSON(map[string]any{"workflow": f.def.Name, "trigger": f.trigger, "reason": "a run is open"}),
	})
	return skippedKey, nil, nil
}

// titleOf returns a title by which people can distinguish the run from other runs.
func titleOf(f firing) string {
	title := f.def.Name
	switch f.trigger {
	case fermata.TriggerLabel:
		title += fmt.Sprintf(" for %v#%v", f.cause["repository"], f.cause["issue"])
	case fermata.TriggerDeployment:
		title += fmt.Sprintf(" for %v to %v", f.cause["repository"], f.cause["environment"])
	case fermata.TriggerSchedule:
		title += fmt.Sprintf(" at %v", f.cause["at"])
	case fermata.TriggerEvent:
		title += fmt.Sprintf(" after %v", f.cause["event"])
	default:
		if issue := f.inputs["issue"]; issue != nil {
			title += fmt.Sprintf(" for #%v", issue)
		}
	}
	runes := []rune(title)
	return string(runes[:min(len(runes), fermata.MaxTaskTitle)])
}

// checkInputs checks inputs against a definition and returns them with defaults filled in.
func checkInputs(w *definition.Workflow, given map[string]any) (map[string]any, error) {
	// This gives numbers the types that expressions know, for values of every origin.
	given = decodeObject(encodeJSON(given))
	values := map[string]any{}
	var problems []fermata.Problem
	for name := range given {
		if !slices.ContainsFunc(w.Inputs, func(in definition.Input) bool { return in.Name == name }) {
			problems = append(problems, fermata.Problem{Field: "inputs." + name, Message: "is no input of this workflow"})
		}
	}
	for _, in := range w.Inputs {
		v, ok := given[in.Name]
		if !ok || v == nil {
			v = in.Default
		}
		switch {
		case v == nil && in.Required:
			problems = append(problems, fermata.Problem{Field: "inputs." + in.Name, Message: "is required"})
		case v != nil && !hasType(v, in.Type):
			problems = append(problems, fermata.Problem{Field: "inputs." + in.Name, Message: "must be a " + in.Type})
		case v != nil && len(in.Enum) > 0 && !slices.ContainsFunc(in.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }):
			problems = append(problems, fermata.Problem{Field: "inputs." + in.Name, Message: fmt.Sprintf("must be one of %v", in.Enum)})
		}
		values[in.Name] = v
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b fermata.Problem) int { return cmp.Compare(a.Field, b.Field) })
		return nil, fermata.Invalid(problems...)
	}
	return values, nil
}

func hasType(v any, typ string) bool {
	switch v.(type) {
	case string:
		return typ == "string"
	case bool:
		return typ == "boolean"
	case int, int64, float64:
		return typ == "number"
	case []any:
		return typ == "array"
	case map[string]any:
		return typ == "object"
	}
	return false
}
