package fermata

import (
	"encoding/json"
	"fmt"
	"time"
)

// Reasons why runs of workflows ended.
const (
	// ReasonStepFailed means that a step failed and nothing handled the failure.
	ReasonStepFailed = "step_failed"
	// ReasonRejected means that a person rejected an approval whose on_reject is fail.
	ReasonRejected = "rejected"
	// ReasonTooManyIterations means that the run came back to a step more often
	// than allowed.
	ReasonTooManyIterations = "too_many_iterations"
	// ReasonAborted means that a person gave up after an error.
	ReasonAborted = "aborted"
	// ReasonDefinitionGone means that the definition cannot be read, for
	// example after an upgrade to a stricter server. A retry does not help.
	ReasonDefinitionGone = "definition_invalid"
)

// WorkflowRun is one run of a workflow: a task with its steps.
type WorkflowRun struct {
	// ID is the id of the task.
	ID       string `json:"id"`
	Workflow string `json:"workflow"`
	// Hash names the definition that the run uses.
	Hash    string `json:"hash"`
	Project string `json:"project"`
	Title   string `json:"title"`
	// State and Reason are those of the task.
	State  TaskState `json:"state" enum:"open,blocked,deferred,in_progress,awaiting_input,awaiting_approval,input_received,done,failed,cancelled,skipped"`
	Reason string    `json:"reason,omitempty"`
	// Summary describes the outcome in words.
	Summary string      `json:"summary,omitempty"`
	Trigger TriggerType `json:"trigger" enum:"label_added,deployment,schedule,webhook,manual,event,workflow"`
	// Cause is the trigger's data: the issue and its label, the deployment, the
	// event, or the planned instant. It contains no secrets.
	Cause json.RawMessage `json:"cause,omitempty"`
	// StartedBy is the actor that started the run by hand, or whose act was the trigger. Such an act is adding the
	// label, or causing the event. It is nil if no actor is known, for example for a schedule or a webhook.
	StartedBy *Actor          `json:"started_by,omitempty" doc:"who started it by hand, or whose act the trigger was; absent where nobody is known"`
	Inputs    json.RawMessage `json:"inputs,omitempty"`
	ParentID  string          `json:"parent_id,omitempty"`
	// Step is the current step.
	Step              string `json:"step,omitempty"`
	PendingQuestionID string `json:"pending_question_id,omitempty"`
	// PendingQuestion, Steps and Graph are set only when a single run is read.
	PendingQuestion *Question       `json:"pending_question,omitempty"`
	Steps           []*WorkflowStep `json:"steps,omitempty"`
	Graph           *WorkflowGraph  `json:"graph,omitempty"`
	// CanRetry reports whether the run can continue from the point where it ended.
	CanRetry  bool       `json:"can_retry"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`

	// ConcurrencyKey is shared by runs that must not run at the same time.
	// FireKey identifies one occurrence of a trigger, so that the occurrence
	// starts only one run.
	ConcurrencyKey string `json:"-"`
	FireKey        string `json:"-"`
}

// StepState is the state of a step of a run.
type StepState string

// States of a step.
const (
	StepRunning StepState = "running"
	// StepWaiting means that the step waits for a person, for a worker, or
	// until an instant.
	StepWaiting StepState = "waiting"
	StepDone    StepState = "done"
	StepSkipped StepState = "skipped"
	StepFailed  StepState = "failed"
	// StepRejected means that a person rejected the approval of the step.
	StepRejected StepState = "rejected"
	// StepCancelled means that the run ended while the step was not finished.
	StepCancelled StepState = "cancelled"
)

// StepStates lists every state of a step.
var StepStates = []StepState{StepRunning, StepWaiting, StepDone, StepSkipped, StepFailed, StepRejected, StepCancelled}

// IsEnded reports whether the step has ended.
func (s StepState) IsEnded() bool { return s != StepRunning && s != StepWaiting }

// WorkflowStep is the record of one occurrence of a step in a run. A step that
// the run came back to has one record for each occurrence. A step with foreach
// has one for each item, and one for itself.
type WorkflowStep struct {
	TaskID string `json:"-"`
	Step   string `json:"step"`
	// Occurrence counts from 1.
	Occurrence int `json:"occurrence"`
	// Item is the index in the list of foreach, from 0.
	Item    *int      `json:"item,omitempty"`
	Tool    string    `json:"tool"`
	State   StepState `json:"state" enum:"running,waiting,done,skipped,failed,rejected,cancelled"`
	Attempt int       `json:"attempt" doc:"1 for the first"`
	// Note says why the step was skipped, or how the step got its result without an answer.
	Note   string          `json:"note,omitempty"`
	Input  json.RawMessage `json:"input,omitempty" doc:"as rendered; secrets are left out"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  *StepError      `json:"error,omitempty"`
	// QuestionID is the question that the step asked. ChildID is the task or
	// run that it created.
	QuestionID string `json:"question_id,omitempty"`
	ChildID    string `json:"child_id,omitempty"`
	// Until is the instant at which a waiting step goes on by itself.
	Until     *time.Time `json:"until,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// StepError says why a step failed.
type StepError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// SafeToRetry reports whether a retry may help and repeats no effect.
	SafeToRetry bool `json:"safe_to_retry,omitempty"`
	// ExitCode is the exit code of the step's command. It is nil if the step
	// ran no command, or if a signal ended the command.
	ExitCode *int `json:"exit_code,omitempty"`
	// Stdout and Stderr are the ends of the command's output, each at most
	// [MaxStepErrorOutput] bytes.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// MaxPrintedJSON is the maximum size of the JSON that a step gets from the output of a command, in bytes.
const MaxPrintedJSON = 940 << 10

// MaxStepErrorOutput is how much of a failed command's output is stored, in bytes.
const MaxStepErrorOutput = 16 << 10

// Key returns the key that identifies the step across attempts and crashes.
// Effects that must happen at most once use this key.
func (s *WorkflowStep) Key() string {
	key := fmt.Sprintf("%s/%s/%d", s.TaskID, s.Step, s.Occurrence)
	if s.Item != nil {
		key += fmt.Sprintf("/%d", *s.Item)
	}
	return key
}

// End ends the step with a state.
func (s *WorkflowStep) End(state StepState, now time.Time) {
	s.State, s.EndedAt, s.Until = state, &now, nil
}

// TestReport is the result of a workflow test: a simulation of one run.
type TestReport struct {
	Workflow string `json:"workflow"`
	// Passed reports whether every expectation was met.
	Passed   bool                `json:"passed"`
	Problems []DefinitionProblem `json:"problems,omitempty"`
	Run      *WorkflowRun        `json:"run,omitempty"`
	// Failures are the expectations that were not met.
	Failures []string `json:"failures,omitempty"`
	// Warnings name the entries of the script that nothing used.
	Warnings []string `json:"warnings,omitempty"`
	// End is the simulated time at which the run ended.
	End time.Time `json:"end,omitzero"`
	// Script holds the outputs of tools and the answers of people that the simulation made up, if no script was given.
	Script string `json:"script,omitempty"`
}
