package definition

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// Expression is a condition or what stands within {{ }}.
type Expression = expression.Expression

// Value is an input with its templates. Its Render gives the value in an [Env].
type Value = expression.Value

// Env holds the root names that expressions see, by the names of the contract:
// inputs, trigger, run, steps, item, index, secrets, pendingQuestion, and the
// outputs and injected values by their own. A name that is not there is null.
// Values are what JSON decodes to, with numbers as float64 or int64, as
// [DecodeJSON] gives them. secrets may be a func(name string) (string, error).
type Env = expression.Env

// NowKey is the name in an [Env] of the time.Time that now() returns; without
// it, it is the clock's.
const NowKey = expression.NowKey

// DecodeJSON decodes JSON into the values that an [Env] wants: whole numbers
// become int64, all others float64.
func DecodeJSON(data []byte) (any, error) { return expression.DecodeJSON(data) }

// Workflow is a definition that was found right.
type Workflow struct {
	Name, Description string
	// Project is empty where the file does not name one.
	Project     string
	Triggers    []Trigger
	Inputs      []Input // in the order of the file
	Concurrency *Concurrency
	Confidence  *Confidence
	// MaxIterations is how often a run may come back to a step: 5 unless the
	// file says otherwise.
	MaxIterations int
	// FailFast says that the steps beside one that failed are cancelled. Otherwise they go on to their end before the run fails.
	FailFast bool
	// Steps are those of all phases: the main ones first, then on_success, on_failure and
	// finally, each in the order of the file.
	Steps []Step
	// Tells says that the file has no on_failure: [Told] is done instead.
	Tells bool
	// OnResume and OnTimeout hold for every step that has none of its own.
	OnResume  *Resume
	OnTimeout *Action
	// Secrets names the secrets that expressions ask for, sorted.
	Secrets []string

	order order
}

// Types of triggers.
const (
	LabelAdded = "label_added"
	Deployment = "deployment"
	Schedule   = "schedule"
	Webhook    = "webhook"
	Manual     = "manual"
	Event      = "event"
)

// AnyEnvironment stands for every environment.
const AnyEnvironment = "*"

// What a schedule does about times that passed while the server was down.
const (
	CatchupNone   = "none"
	CatchupLatest = "latest"
	CatchupAll    = "all"
)

// What a webhook asks of its callers.
const (
	AuthSignature = "signature"
	AuthNone      = "none"
)

// Trigger starts runs.
type Trigger struct {
	// Type is one of [LabelAdded], [Deployment], [Schedule], [Webhook], [Manual] and [Event].
	Type string
	// Label is the label of GitHub that starts a run, Environment the environment
	// of GitHub Actions, [AnyEnvironment] for all; Repo, as "owner/name", narrows
	// either to one repository.
	Label, Environment, Repo string
	// Cron is a line of five fields in the zone Timezone, UTC by default.
	Cron, Timezone string
	// Catchup is none, latest (the default) or all; a time that is longer ago
	// than CatchupAge is not caught up with. The default is 24 hours.
	Catchup    string
	CatchupAge time.Duration
	// Auth is signature (the default) or none.
	Auth string
	// EventType is the type of a Fermata event, such as question.answered.
	EventType string
	// If must be true for a run to start; it sees trigger only.
	If *Expression
	// Inputs gives the run's inputs; its templates see trigger only.
	Inputs map[string]Value
	// Index is the place of the trigger in the file, from 0.
	Index int
	Line  int
}

// IsOf reports whether the trigger hears of a repository at GitHub, which tells no case apart.
func (t *Trigger) IsOf(repository string) bool {
	return t.Repo == "" || strings.EqualFold(repository, t.Repo)
}

// Schedule returns the times of a schedule, and nil for any other trigger.
func (t *Trigger) Schedule() *Cron {
	if t.Type != Schedule {
		return nil
	}
	c, err := ParseCron(t.Cron, t.Timezone)
	if err != nil {
		return nil
	}
	return c
}

// Input is a typed parameter of a run.
type Input struct {
	Name, Description string
	// Type is string, number, boolean, object or array.
	Type     string
	Required bool
	// Default is nil where there is none.
	Default any
	// Enum lists the only values allowed, when it is not empty.
	Enum []any
}

// IsNeeded reports whether no run starts without the input.
func (in *Input) IsNeeded() bool { return in.Required && in.Default == nil }

// What becomes of a run whose key is taken.
const (
	Queue          = "queue"
	Skip           = "skip"
	CancelPrevious = "cancel_previous"
)

// Concurrency keeps runs with the same key from running side by side.
type Concurrency struct {
	// Key renders to text; it sees inputs and trigger.
	Key Value
	// Policy is queue, skip (the default) or cancel_previous.
	Policy string
}

// Confidence is the thresholds of spec §4.5, from 0 to 100. A threshold that is
// nil is left to what is around it.
type Confidence struct {
	// Auto: at or above it the default is taken without asking.
	Auto *int
	// Ask: below it the step is left to manual work.
	Ask *int
}

// What becomes of a run when a step fails.
const (
	OnErrorFail     = "fail"
	OnErrorAsk      = "ask"
	OnErrorContinue = "continue"
)

// What becomes of a run when an approval is rejected.
const (
	OnRejectFail = "fail"
	OnRejectSkip = "skip"
)

// Step is one step.
type Step struct {
	ID, Tool string
	// Phase is the list that the step is in.
	Phase Phase
	// Needs are the steps after which it begins: those that the file names, else the one above it in its list.
	Needs []string
	// Condition must be true for the step to run; nil is true.
	Condition *Expression
	// Input renders to an object, an empty one where the file has none.
	Input Value
	// Output is the name that later steps know the result by, besides
	// steps.<id>.output; it may be empty.
	Output string
	// Schema is the JSON Schema that the result must fit, or nil.
	Schema json.RawMessage
	// Timeout is how long one execution may take; 0 is the tool's own limit.
	Timeout time.Duration
	Retry   *Retry
	// Repeat says whether the run goes back behind the step; nil for never.
	Repeat *Repeat
	// OnError is fail (the same as empty), ask or continue.
	OnError string
	// Suspend makes the run wait for the answer of the question it posts.
	Suspend bool
	// OnReject is fail (the same as empty) or skip, unless OnRejectGoto names
	// a step.
	OnReject, OnRejectGoto string
	// Foreach renders to a list; the step runs once for each element.
	Foreach *Value
	// OwnCopy says that each task of the step has a working copy of its own, and not that of the run.
	OwnCopy bool
	// Parallel is how many elements run side by side, at least 1.
	Parallel   int
	OnResume   *Resume
	OnTimeout  *Action
	Confidence *Confidence
	Line       int
	// source is the step as the file has it, without places and styles.
	source any
}

// Equal reports whether two steps of different definitions are the same: equal in all that the files say of them, in the same list,
// and after the same steps.
func (s *Step) Equal(other *Step) bool {
	return s.Phase == other.Phase && slices.Equal(s.Needs, other.Needs) && reflect.DeepEqual(s.source, other.source)
}

// Repeat makes a run go back, from behind a step that was done or skipped, until a condition is true.
type Repeat struct {
	// From is the step to go back to: the same one, or one before it in the same list.
	From string
	// Until must be true for the run to go on. It sees what the step gave.
	Until *Expression
	// Max is how often the step is done before it fails, the first time as well.
	Max int
}

// Retry says how often a step that failed is tried again.
type Retry struct {
	// Attempts counts all tries, the first as well.
	Attempts int
	// Backoff is the wait before the second try; each further one is Factor
	// times as long, up to MaxBackoff.
	Backoff, MaxBackoff time.Duration
	Factor              float64
}

// Delay returns the wait after the given number of tries that failed.
func (r *Retry) Delay(failed int) time.Duration {
	d := float64(r.Backoff)
	for range min(failed-1, 100) {
		d *= r.Factor
		if d >= float64(r.MaxBackoff) {
			return r.MaxBackoff
		}
	}
	return time.Duration(d)
}

// Resume says how a run goes on after an answer.
type Resume struct {
	// Inject names values that steps see from then on, in the order of the file.
	Inject []Named
	// Goto is the step to go on with; empty is the next one.
	Goto string
	// GotoBy maps the value of an option to a step; an option that is not in it
	// goes on with the next one.
	GotoBy map[string]string
}

// Named is a value with a name.
type Named struct {
	Name  string
	Value Value
}

// Action is what happens when nobody answered in time.
type Action struct {
	// Tool is empty where there is only Goto.
	Tool  string
	Input Value
	Goto  string
}

// Blank returns an environment in which nothing has happened yet: every step has
// the status pending, and no output, error or answer.
func (w *Workflow) Blank() Env {
	steps := make(map[string]any, len(w.Steps))
	for i := range w.Steps {
		steps[w.Steps[i].ID] = map[string]any{"status": "pending", "output": nil, "error": nil, "answer": nil, "branch": nil}
	}
	return Env{"steps": steps, "inputs": map[string]any{}, "trigger": map[string]any{}, "run": map[string]any{}}
}

// Step returns the step of that id, and nil where there is none.
func (w *Workflow) Step(id string) *Step {
	if i := w.Index(id); i >= 0 {
		return &w.Steps[i]
	}
	if w.Tells && id == Told.ID {
		return Told
	}
	return nil
}

// Index returns the place of a step in the file, from 0, and -1 where there is
// none.
func (w *Workflow) Index(id string) int {
	for i := range w.Steps {
		if w.Steps[i].ID == id {
			return i
		}
	}
	return -1
}

// Resume returns how a run goes on after an answer to the step's question: as
// the step says, else as the workflow says, else nil. What the workflow says is
// about answers; a decision on an approval goes on with the next step.
func (w *Workflow) Resume(s *Step) *Resume {
	if s.OnResume != nil || s.Tool == requestApproval || s.Phase != MainPhase {
		return s.OnResume
	}
	return w.OnResume
}

// Timeout returns what happens when nobody answers the step's question in time:
// as the step says, else as the workflow says, else nil.
func (w *Workflow) Timeout(s *Step) *Action {
	if s.OnTimeout != nil || s.Phase != MainPhase {
		return s.OnTimeout
	}
	return w.OnTimeout
}
