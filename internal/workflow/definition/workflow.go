package definition

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// Expression is a condition, or the expression within {{ }}.
type Expression = expression.Expression

// Value is an input with its templates. Its Render method fills them in from an [Env].
type Value = expression.Value

// Env holds the root names that expressions can read. They are inputs, trigger, run, steps, item, index, secrets and
// pendingQuestion, and the names of outputs and of injected values. A missing name is null. Values have the types that
// [DecodeJSON] returns, with numbers as float64 or int64. secrets may be a func(name string) (string, error).
type Env = expression.Env

// NowKey is the name in an [Env] of the time.Time that now() returns. Without it, now() returns the system time.
const NowKey = expression.NowKey

// DecodeJSON decodes JSON into the types that an [Env] expects: whole numbers become int64, all other numbers float64.
func DecodeJSON(data []byte) (any, error) { return expression.DecodeJSON(data) }

// Workflow is a definition without errors.
type Workflow struct {
	Name, Description string
	// Project is empty if the file names none.
	Project     string
	Triggers    []Trigger
	Inputs      []Input // in the order of the file
	Concurrency *Concurrency
	Confidence  *Confidence
	// MaxIterations is how often a run may do one step; 5 if the file sets nothing.
	MaxIterations int
	// FailFast says that the failure of a step cancels the parallel steps. Without it, they end before the run fails.
	FailFast bool
	// Steps are the steps of all phases: the main ones first, then on_success, on_failure and finally, each in the
	// order of the file.
	Steps []Step
	// CommentsOnFailure says that the file has no on_failure, so that [FailureComment] is done instead.
	CommentsOnFailure bool
	// OnResume and OnTimeout apply to every step that has none of its own.
	OnResume  *Resume
	OnTimeout *TimeoutAction
	// Secrets are the names of the secrets that expressions use, sorted.
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

// AnyEnvironment as [Trigger.Environment] means every environment.
const AnyEnvironment = "*"

// Values of [Trigger.Catchup]: which runs start for times that passed while the server was down.
const (
	CatchupNone   = "none"
	CatchupLatest = "latest"
	CatchupAll    = "all"
)

// Values of [Trigger.Auth]: what a webhook requires of its callers.
const (
	AuthSignature = "signature"
	AuthNone      = "none"
)

// Trigger describes what starts runs.
type Trigger struct {
	// Type is one of [LabelAdded], [Deployment], [Schedule], [Webhook], [Manual] and [Event].
	Type string
	// Label is the GitHub label that starts a run. Environment is the environment of GitHub Actions, or
	// [AnyEnvironment] for all of them. Repo, as "owner/name", limits either to one repository.
	Label, Environment, Repo string
	// Cron is a line of five fields in the time zone Timezone, which is UTC by default.
	Cron, Timezone string
	// Catchup is none, latest (the default) or all. A time that was missed longer ago than CatchupAge is not caught up.
	// The default of CatchupAge is 24 hours.
	Catchup    string
	CatchupAge time.Duration
	// Auth is signature (the default) or none.
	Auth string
	// EventType is the type of a Fermata event, such as question.answered.
	EventType string
	// If must be true for a run to start. It can read only trigger.
	If *Expression
	// Inputs are the inputs of the run. Their templates can read only trigger.
	Inputs map[string]Value
	// Index is the position of the trigger in the file, from 0.
	Index int
	Line  int
}

// IsForRepository reports whether the trigger applies to a GitHub repository. GitHub ignores case in names.
func (t *Trigger) IsForRepository(repository string) bool {
	return t.Repo == "" || strings.EqualFold(repository, t.Repo)
}

// Schedule returns the times of a schedule, or nil for any other trigger.
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
	// Default is nil if there is none.
	Default any
	// Enum lists the only values allowed, if it is not empty.
	Enum []any
}

// IsNeeded reports whether a run cannot start without the input.
func (in *Input) IsNeeded() bool { return in.Required && in.Default == nil }

// Values of [Concurrency.Policy]: what happens to a new run whose key is taken.
const (
	Queue          = "queue"
	Skip           = "skip"
	CancelPrevious = "cancel_previous"
)

// Concurrency prevents runs with the same key from running at the same time.
type Concurrency struct {
	// Key renders to a text. It can read inputs and trigger.
	Key Value
	// Policy is queue, skip (the default) or cancel_previous.
	Policy string
}

// Confidence holds the thresholds of docs/inside/contract.md#confidence, from 0 to 100. For a nil threshold, the one of the workflow or the
// workspace applies.
type Confidence struct {
	// Auto is the lowest confidence at which the default is taken without asking.
	Auto *int
	// Ask is the confidence below which the step is set aside for manual work.
	Ask *int
}

// Values of [Step.OnError]: what happens to a run when a step fails.
const (
	OnErrorFail     = "fail"
	OnErrorAsk      = "ask"
	OnErrorContinue = "continue"
)

// Values of [Step.OnReject]: what happens to a run when an approval is rejected.
const (
	OnRejectFail = "fail"
	OnRejectSkip = "skip"
)

// Step is one step of a workflow.
type Step struct {
	ID, Tool string
	// Phase is the phase to which the step belongs.
	Phase Phase
	// Needs are the steps after which it begins: those that the file names, else the one above it in its phase.
	Needs []string
	// Condition must be true for the step to run; nil means true.
	Condition *Expression
	// Input renders to an object. It is an empty object if the file has no input.
	Input Value
	// Output is the name by which later steps can read the result, besides steps.<id>.output. It may be empty.
	Output string
	// Schema is the JSON Schema that the result must fit, or nil.
	Schema json.RawMessage
	// Timeout is the time limit of one execution; 0 means the limit of the tool.
	Timeout time.Duration
	Retry   *Retry
	// Repeat says whether the run goes back after the step; nil means never.
	Repeat *Repeat
	// OnError is fail (the same as empty), ask or continue.
	OnError string
	// Suspend makes the run wait for the answer to the question of the step.
	Suspend bool
	// OnReject is fail (the same as empty) or skip, unless OnRejectGoto names a step.
	OnReject, OnRejectGoto string
	// Foreach renders to a list; the step runs once for each element.
	Foreach *Value
	// OwnCopy says that each task of the step has its own working copy instead of that of the run.
	OwnCopy bool
	// Parallel is how many elements are done in parallel, at least 1.
	Parallel   int
	OnResume   *Resume
	OnTimeout  *TimeoutAction
	Confidence *Confidence
	Line       int
	// silence is what happens when nobody answers the step's question in time.
	silence silence
	// source is the step as the file has it, without positions and styles.
	source any
}

// Equal reports whether two steps of different definitions are the same: the files say the same about them, and they
// have the same phase and needs.
func (s *Step) Equal(other *Step) bool {
	return s.Phase == other.Phase && slices.Equal(s.Needs, other.Needs) && reflect.DeepEqual(s.source, other.source)
}

// Repeat makes a run go back after a step that was done or skipped, until a condition is true.
type Repeat struct {
	// From is the step to go back to: the same one, or an earlier one in the same phase.
	From string
	// Until must be true for the run to continue. It can read the output of the step.
	Until *Expression
	// Max is how often the step is done before it fails, including the first time.
	Max int
}

// Retry says how often a failed step is tried again.
type Retry struct {
	// Attempts is the number of all tries, including the first.
	Attempts int
	// Backoff is the wait before the second try. Each further wait is Factor times as long, up to MaxBackoff.
	Backoff, MaxBackoff time.Duration
	Factor              float64
}

// Delay returns the wait after the given number of failed tries. It is never longer than MaxBackoff.
func (r *Retry) Delay(failed int) time.Duration {
	d, longest := float64(r.Backoff), float64(r.MaxBackoff)
	for range min(failed-1, 100) {
		if d *= r.Factor; d >= longest {
			break
		}
	}
	return time.Duration(min(d, longest))
}

// Resume says how a run continues after an answer.
type Resume struct {
	// Inject are values that later steps can read by name, in the order of the file.
	Inject []NamedValue
	// Goto is the step to continue with; empty means the next one.
	Goto string
	// GotoBy maps the value of an option to a step. For an option that is not in it, the run continues with the next
	// step.
	GotoBy map[string]string
}

// NamedValue is a value with a name.
type NamedValue struct {
	Name  string
	Value Value
}

// TimeoutAction is what a run does when nobody answered in time.
type TimeoutAction struct {
	// Tool is empty if there is only Goto.
	Tool  string
	Input Value
	Goto  string
}

// InitialEnv returns the environment at the beginning of a run: every step has the status pending, and no output, error or
// answer.
func (w *Workflow) InitialEnv() Env {
	steps := make(map[string]any, len(w.Steps))
	for i := range w.Steps {
		steps[w.Steps[i].ID] = map[string]any{"status": "pending", "output": nil, "error": nil, "answer": nil, "branch": nil}
	}
	return Env{"steps": steps, "inputs": map[string]any{}, "trigger": map[string]any{}, "run": map[string]any{}}
}

// Step returns the step with that id, or nil if there is none.
func (w *Workflow) Step(id string) *Step {
	if i := w.Index(id); i >= 0 {
		return &w.Steps[i]
	}
	if w.CommentsOnFailure && id == FailureComment.ID {
		return FailureComment
	}
	return nil
}

// Index returns the index of a step in the file, from 0, or -1 if there is none.
func (w *Workflow) Index(id string) int {
	for i := range w.Steps {
		if w.Steps[i].ID == id {
			return i
		}
	}
	return -1
}

// Resume returns how a run continues after an answer to the step's question: the setting of the step, else that of the
// workflow, else nil. The setting of the workflow applies to answers only. After a decision on an approval, the run
// continues with the next step. A step that asks for each item has no setting: it ends with the last answer.
func (w *Workflow) Resume(s *Step) *Resume {
	if s.Foreach != nil {
		return nil
	}
	if s.OnResume != nil || s.Tool == requestApproval || s.Phase != MainPhase {
		return s.OnResume
	}
	return w.OnResume
}

// Timeout returns what happens when nobody answers the step's question in time: the setting of the step, else that of
// the workflow, else nil. A step that asks for each item has no setting.
func (w *Workflow) Timeout(s *Step) *TimeoutAction {
	if s.Foreach != nil {
		return nil
	}
	if s.OnTimeout != nil || s.Phase != MainPhase {
		return s.OnTimeout
	}
	return w.OnTimeout
}
