package fermata

import (
	"encoding/json"
	"fmt"
	"time"
)

// Reasons of runs of workflows that ended.
const (
	// ReasonStepFailed: a step failed, and nothing was to be done about it.
	ReasonStepFailed = "step_failed"
	// ReasonRejected: a person rejected, and on_reject said to fail.
	ReasonRejected = "rejected"
	// ReasonTooManyIterations: a step was come back to more often than allowed.
	ReasonTooManyIterations = "too_many_iterations"
	// ReasonAborted: a person gave up after an error.
	ReasonAborted = "aborted"
	// ReasonDefinitionGone: the definition cannot be read any more, as after an
	// upgrade to a server that reads more strictly. Trying again does not mend it.
	ReasonDefinitionGone = "definition_invalid"
)

// WorkflowRun is one run of a workflow: a task, with its steps.
type WorkflowRun struct {
	// ID is the task's.
	ID       string `json:"id"`
	Workflow string `json:"workflow"`
	// Hash names the definition that the run is pinned to.
	Hash    string `json:"hash"`
	Project string `json:"project"`
	Title   string `json:"title"`
	// State and Reason are the task's.
	State  TaskState `json:"state" enum:"open,blocked,deferred,in_progress,awaiting_input,awaiting_approval,input_received,done,failed,cancelled,skipped"`
	Reason string    `json:"reason,omitempty"`
	// Summary says in words what came of it.
	Summary string      `json:"summary,omitempty"`
	Trigger TriggerType `json:"trigger" enum:"label_added,deployment,schedule,webhook,manual,event,workflow"`
	// Cause is what the trigger knew: the issue and its label, the deployment, the
	// event, the planned instant. Secrets are not in it.
	Cause json.RawMessage `json:"cause,omitempty"`
	// StartedBy is who started it by hand, or the person whose act the trigger was: who put the label, or did what the event
	// tells. It is nil where nobody is known, as with a schedule or a webhook.
	StartedBy *Actor          `json:"started_by,omitempty" doc:"who started it by hand, or whose act the trigger was; absent where nobody is known"`
	Inputs    json.RawMessage `json:"inputs,omitempty"`
	ParentID  string          `json:"parent_id,omitempty"`
	// Step is the step that it is at.
	Step              string `json:"step,omitempty"`
	PendingQuestionID string `json:"pending_question_id,omitempty"`
	// PendingQuestion, Steps, Graph and Outputs are filled in where one run is read.
	PendingQuestion *Question       `json:"pending_question,omitempty"`
	Steps           []*WorkflowStep `json:"steps,omitempty"`
	Graph           *WorkflowGraph  `json:"graph,omitempty"`
	// CanRetry reports whether the run can go on from where it ended.
	CanRetry  bool       `json:"can_retry"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`

	// ConcurrencyKey keeps runs that must not run side by side apart; FireKey
	// makes that what happened once starts one run.
	ConcurrencyKey string `json:"-"`
	FireKey        string `json:"-"`
}

// StepState is where a step of a run stands.
type StepState string

// States of a step.
const (
	StepRunning StepState = "running"
	// StepWaiting waits for a person, for a worker, or until an instant.
	StepWaiting StepState = "waiting"
	StepDone    StepState = "done"
	StepSkipped StepState = "skipped"
	StepFailed  StepState = "failed"
	// StepRejected: a person rejected.
	StepRejected StepState = "rejected"
	// StepCancelled: the run ended while the step was under way.
	StepCancelled StepState = "cancelled"
)

// StepStates lists every state.
var StepStates = []StepState{StepRunning, StepWaiting, StepDone, StepSkipped, StepFailed, StepRejected, StepCancelled}

// IsEnded reports whether nothing more happens to the step.
func (s StepState) IsEnded() bool { return s != StepRunning && s != StepWaiting }

// WorkflowStep is what became of one step of a run. A step that the run came
// back to has several, one for each occurrence; one with foreach has one for
// each item beside its own.
type WorkflowStep struct {
	TaskID string `json:"-"`
	Step   string `json:"step"`
	// Occurrence counts from 1.
	Occurrence int `json:"occurrence"`
	// Item is the place in foreach's list, from 0.
	Item    *int      `json:"item,omitempty"`
	Tool    string    `json:"tool"`
	State   StepState `json:"state" enum:"running,waiting,done,skipped,failed,rejected,cancelled"`
	Attempt int       `json:"attempt" doc:"1 for the first"`
	// Note says why it was skipped, or who decided without a person.
	Note   string          `json:"note,omitempty"`
	Input  json.RawMessage `json:"input,omitempty" doc:"as rendered; secrets are left out"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  *StepError      `json:"error,omitempty"`
	// QuestionID is the question it asked, ChildID the task or run it made.
	QuestionID string `json:"question_id,omitempty"`
	ChildID    string `json:"child_id,omitempty"`
	// Until is when a waiting step goes on by itself.
	Until     *time.Time `json:"until,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// StepError is why a step failed.
type StepError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// SafeToRetry says that another try may help and repeats no effect.
	SafeToRetry bool `json:"safe_to_retry,omitempty"`
	// ExitCode is that of the step's command, nil for a step that ran none or whose command said itself how it ended.
	ExitCode *int `json:"exit_code,omitempty"`
	// Stdout and Stderr are the ends of what the command wrote, each of at most [MaxStepPrinted] bytes.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// MaxStepPrinted is how much of a failed command's output its step keeps, in bytes.
const MaxStepPrinted = 16 << 10

// Key identifies the step across attempts and crashes: what it does at most
// once, it does under this key.
func (s *WorkflowStep) Key() string {
	key := fmt.Sprintf("%s/%s/%d", s.TaskID, s.Step, s.Occurrence)
	if s.Item != nil {
		key += fmt.Sprintf("/%d", *s.Item)
	}
	return key
}

// End ends the step.
func (s *WorkflowStep) End(state StepState, now time.Time) {
	s.State, s.EndedAt, s.Until = state, &now, nil
}
