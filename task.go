package fermata

import (
	"encoding/json"
	"time"
)

// Limits of tasks.
const (
	MaxTitle       = 120
	MaxTaskTitle   = 200
	MaxBody        = 256 << 10
	MaxLabels      = 32
	MaxSessionKey  = 128
	MaxDepth       = 32
	LowestPriority = 4
	// DefaultPriority is the middle of the range from 0 (highest) to 4.
	DefaultPriority = 2
	// DefaultMaxAttempts is how many runs of a task may be lost before it fails.
	DefaultMaxAttempts = 3
	DefaultProject     = "default"
)

// Reasons that the server gives for the end of a task.
const (
	ReasonQuestionTimedOut = "question_timed_out"
	ReasonAttemptsUsedUp   = "attempts_used_up"
	ReasonLowConfidence    = "confidence_below_policy"
	// ReasonRunTimeout means that a worker stopped the run at its time limit.
	ReasonRunTimeout = "run_timeout"
)

// ReasonPaused is the reason of a deferred task that a person paused. Such a
// task waits until a person resumes it.
const ReasonPaused = "paused"

// Runners that the server itself knows. Any other name belongs to a worker.
const (
	// RunnerCommand runs the worker's own program.
	RunnerCommand = "command"
	// RunnerShell runs the command line in the task's spec. So a person or
	// agent that can create a task can run programs at the worker. Only a
	// worker that allows this takes such a task.
	RunnerShell = "shell"
	// RunnerExternal marks a task that belongs to its creator. No worker claims
	// it, and an answer moves it back to in_progress.
	RunnerExternal = "external"
	// RunnerWorkflow marks a task that the workflow engine moves on.
	RunnerWorkflow = "workflow"
)

// Task is a piece of work for one agent (docs/inside/contract.md#task-states).
type Task struct {
	ID          string    `json:"id"`
	WorkspaceID string    `json:"workspace_id"`
	Project     string    `json:"project"`
	ParentID    string    `json:"parent_id,omitempty"`
	Title       string    `json:"title"`
	Body        string    `json:"body,omitempty" doc:"Markdown"`
	State       TaskState `json:"state" enum:"open,blocked,deferred,in_progress,awaiting_input,awaiting_approval,input_received,done,failed,cancelled,skipped"`
	// Reason says why the task is in its state, if that is not obvious. It is
	// the code of a failure, or a person's reason for cancelling.
	Reason   string `json:"reason,omitempty"`
	Priority int    `json:"priority" minimum:"0" maximum:"4"`
	Size     string `json:"size,omitempty" enum:"small,medium,large"`
	Agent    string `json:"agent,omitempty" doc:"the role it is for: code, design, review …"`
	Runner   string `json:"runner,omitempty" doc:"what drives it; shell: the command of its spec, at a worker that allows it; external: no worker claims it"`
	// Isolated reports whether only a worker that keeps its agents in a sandbox
	// may take the task.
	Isolated bool     `json:"isolated,omitempty" doc:"only a worker that isolates its agents (--isolate) takes it"`
	Labels   []string `json:"labels,omitempty"`
	// Spec is data that the runner needs beside the text, such as a command line.
	Spec        json.RawMessage `json:"spec,omitempty"`
	BlockedBy   []string        `json:"blocked_by,omitempty"`
	DeferUntil  *time.Time      `json:"defer_until,omitempty"`
	Attempts    int             `json:"attempts" doc:"runs lost since the task last got on"`
	MaxAttempts int             `json:"max_attempts"`
	// RunID is the current run, or the last one.
	RunID string `json:"run_id,omitempty"`
	// WorkerTokenID is the token that claimed the task last. AgentTokenID is
	// the token that this worker gives its agents.
	WorkerTokenID string `json:"-"`
	AgentTokenID  string `json:"-"`
	// Session is the agent's conversation, with the data to resume it.
	Session *Session `json:"session,omitempty"`
	// Checkpoint is data that the last run saved for the next one.
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
	Summary    string          `json:"summary,omitempty" doc:"what the last run reported"`
	// PendingQuestionID is the open question that suspends the task.
	PendingQuestionID string `json:"pending_question_id,omitempty"`
	// PendingQuestion is set only when a single task is read.
	PendingQuestion *Question `json:"pending_question,omitempty"`
	// Waiting says what the task waits for while it needs a person.
	Waiting *TaskWaiting `json:"waiting,omitempty"`
	// NoWorker is set if the task waits for a worker and no running worker takes it.
	NoWorker *NoWorker `json:"no_worker,omitempty"`
	// CanResume reports whether a person may resume the task without an answer.
	CanResume bool `json:"can_resume"`
	// CanPause reports whether a person may pause the task.
	CanPause bool `json:"can_pause"`
	// TakeOverCommand is the shell command that opens the session of a paused task by
	// hand, on the machine of its worker.
	TakeOverCommand string `json:"take_over,omitempty"`
	// EndsWithAnswer makes an external task done as soon as its question is
	// answered. It is for a single question of a script.
	EndsWithAnswer bool `json:"ends_with_answer,omitempty"`
	// SessionKey joins the questions of one external session in one task.
	SessionKey string    `json:"session_key,omitempty"`
	CreatedBy  Actor     `json:"created_by"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`

	// Runs counts the runs so far.
	Runs int `json:"runs"`
	// Unread counts the answers and messages that no run was handed yet.
	Unread int `json:"unread"`
	// Version counts the saves of the row. A save succeeds only if it names the
	// version that was read.
	Version int64 `json:"-"`
}

// Session is an agent's own conversation, with the data to resume it.
type Session struct {
	ID       string            `json:"id"`
	Runner   string            `json:"runner,omitempty"`
	Dir      string            `json:"dir,omitempty" doc:"working directory"`
	Mode     string            `json:"mode,omitempty"`
	Worker   string            `json:"worker,omitempty" doc:"where the working copy is"`
	Branch   string            `json:"branch,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	// Command opens the session by hand, in its folder. It is empty if the
	// agent program cannot do that.
	Command string `json:"command,omitempty"`
}

// NewTask is a request to create a task.
type NewTask struct {
	Title          string          `json:"title" minLength:"1" maxLength:"200"`
	Body           string          `json:"body,omitempty" maxLength:"262144" doc:"Markdown"`
	Project        string          `json:"project,omitempty" maxLength:"64"`
	ParentID       string          `json:"parent_id,omitempty"`
	Priority       *int            `json:"priority,omitempty" minimum:"0" maximum:"4" doc:"0 is the highest; default 2"`
	Size           string          `json:"size,omitempty" enum:"small,medium,large"`
	Agent          string          `json:"agent,omitempty" maxLength:"64"`
	Runner         string          `json:"runner,omitempty" maxLength:"64" doc:"what drives it; empty: any worker that has an agent, or shell where the spec names a command"`
	Isolated       bool            `json:"isolated,omitempty" doc:"only a worker that isolates its agents (--isolate) takes it"`
	Labels         []string        `json:"labels,omitempty"`
	Spec           json.RawMessage `json:"spec,omitempty"`
	BlockedBy      []string        `json:"blocked_by,omitempty"`
	DeferUntil     *time.Time      `json:"defer_until,omitempty"`
	MaxAttempts    int             `json:"max_attempts,omitempty" minimum:"0" maximum:"100" doc:"how many runs may be lost before it fails; 0 is the default, 3"`
	EndsWithAnswer bool            `json:"ends_with_answer,omitempty" doc:"external tasks only: done as soon as its question is answered"`
	SessionKey     string          `json:"session_key,omitempty" maxLength:"128" doc:"external tasks only: the session whose questions this task holds"`
}

// TaskPatch is a request to change a task. A nil field leaves its value as it is.
type TaskPatch struct {
	Title     *string   `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Body      *string   `json:"body,omitempty" maxLength:"262144"`
	Priority  *int      `json:"priority,omitempty" minimum:"0" maximum:"4"`
	Labels    *[]string `json:"labels,omitempty"`
	BlockedBy *[]string `json:"blocked_by,omitempty"`
}

// TaskSizes lists the sizes that a task may have.
var TaskSizes = []string{"small", "medium", "large"}

// Create returns the task that the request describes. The task is not blocked,
// even if it names dependencies, because Create does not know whether they are
// open.
func (n NewTask) Create(id string, by Actor, now time.Time) (*Task, error) {
	if problems := n.findProblems(now); len(problems) > 0 {
		return nil, Invalid(problems...)
	}
	t := &Task{
		ID: id, Project: n.Project, ParentID: n.ParentID, Title: n.Title, Body: n.Body,
		State: TaskOpen, Priority: DefaultPriority, Size: n.Size, Agent: n.Agent, Runner: n.Runner, Isolated: n.Isolated,
		Labels: n.Labels, Spec: n.Spec, BlockedBy: n.BlockedBy, MaxAttempts: n.MaxAttempts,
		EndsWithAnswer: n.EndsWithAnswer, SessionKey: n.SessionKey,
		CreatedBy: by, CreatedAt: now, UpdatedAt: now,
	}
	if n.namesCommand() {
		t.Runner = RunnerShell
	}
	if t.Project == "" {
		t.Project = DefaultProject
	}
	if n.Priority != nil {
		t.Priority = *n.Priority
	}
	if t.MaxAttempts == 0 {
		t.MaxAttempts = DefaultMaxAttempts
	}
	switch {
	case t.Runner == RunnerExternal:
		t.State = TaskInProgress
	case n.DeferUntil != nil:
		until := TruncateTime(*n.DeferUntil)
		t.State, t.DeferUntil = TaskDeferred, &until
	}
	return t, nil
}

func (n NewTask) findProblems(now time.Time) []Problem {
	var ps problems
	ps.checkText("title", n.Title, 1, MaxTaskTitle)
	ps.checkText("body", n.Body, 0, MaxBody)
	ps.checkName("project", n.Project)
	ps.checkName("agent", n.Agent)
	ps.checkName("runner", n.Runner)
	ps.checkLabels(n.Labels)
	ps.checkOneOf("size", n.Size, TaskSizes)
	if n.Priority != nil {
		ps.checkRange("priority", *n.Priority, 0, LowestPriority)
	}
	ps.checkRange("max_attempts", n.MaxAttempts, 0, 100)
	if n.Runner == RunnerExternal && (len(n.BlockedBy) > 0 || n.DeferUntil != nil) {
		ps.add("runner", "an external task is never claimed, so it can neither be blocked nor deferred")
	}
	if n.Isolated && (n.Runner == RunnerExternal || n.Runner == RunnerWorkflow) {
		ps.add("isolated", "is allowed only for tasks that a worker takes")
	}
	if n.Runner != RunnerExternal && (n.EndsWithAnswer || n.SessionKey != "") {
		ps.add("runner", "ends_with_answer and session_key are allowed only with the runner external")
	}
	ps.checkText("session_key", n.SessionKey, 0, MaxSessionKey)
	ps.checkFuture("defer_until", n.DeferUntil, now)
	if n.Runner == RunnerExternal {
		ps.checkJSON("spec", n.Spec)
		return ps
	}
	ps.checkSpec(n.Spec)
	switch hasCommand := n.namesCommand(); {
	case n.Runner == RunnerShell && !hasCommand:
		ps.add("spec.command", "must name what the runner shell runs, such as [\"make\", \"test\"]")
	case hasCommand && n.Runner != "" && n.Runner != RunnerCommand && n.Runner != RunnerShell:
		ps.add("spec.command", "is allowed only with the runner shell: leave the runner out, or the command")
	}
	return ps
}

// namesCommand reports whether a worker should run the command line in the task's spec.
func (n NewTask) namesCommand() bool {
	return n.Runner != RunnerExternal && SpecNamesCommand(n.Spec)
}

// CheckSessionKey returns an error if a session key is not valid. Call it
// before you look up the key's task.
func CheckSessionKey(field, key string) error {
	var ps problems
	ps.checkText(field, key, 0, MaxSessionKey)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Apply changes the fields that the patch names. If a value is not valid, it
// returns an error and changes nothing.
func (p TaskPatch) Apply(task *Task, now time.Time) error {
	var ps problems
	t := *task
	if p.Title != nil {
		ps.checkText("title", *p.Title, 1, MaxTaskTitle)
		t.Title = *p.Title
	}
	if p.Body != nil {
		ps.checkText("body", *p.Body, 0, MaxBody)
		t.Body = *p.Body
	}
	if p.Priority != nil {
		ps.checkRange("priority", *p.Priority, 0, LowestPriority)
		t.Priority = *p.Priority
	}
	if p.Labels != nil {
		ps.checkLabels(*p.Labels)
		t.Labels = *p.Labels
	}
	if p.BlockedBy != nil {
		t.BlockedBy = *p.BlockedBy
	}
	t.UpdatedAt = now
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	*task = t
	return nil
}

// IsUnblockedBy reports whether the other task does not block this one. A task
// that is done or skipped blocks nothing. For a child of this task, it is
// enough to have ended. The same holds for an earlier workflow run if this task
// is a workflow run too.
func (t *Task) IsUnblockedBy(other *Task) bool {
	if other.ParentID == t.ID || t.Runner == RunnerWorkflow && other.Runner == RunnerWorkflow {
		return other.State.IsEnded()
	}
	return other.State == TaskDone || other.State == TaskSkipped
}

// StateAfterQuestion returns the state that the task takes after a question closed,
// and the reason if the task ends. The argument isPending says whether the
// question is the task's pending one. A task that a worker runs keeps its state, because
// its agent gets the answer at the next contact.
func (t *Task) StateAfterQuestion(q *Question, isPending bool) (TaskState, string) {
	r := q.Resolution
	if !isPending || t.State == TaskInProgress || !t.State.IsSuspended() && t.State != TaskInputReceived {
		return t.State, ""
	}
	if t.Runner == RunnerWorkflow {
		// The definition of the workflow says what follows a timeout.
		if t.State == TaskInputReceived {
			return t.State, ""
		}
		return t.ResumedState(), ""
	}
	switch r.Outcome {
	case FailTask:
		return TaskFailed, ReasonQuestionTimedOut
	case SkipTask:
		return TaskSkipped, ReasonQuestionTimedOut
	case TakeDefault, Escalate:
		// After a default, the task goes on as after an answer. An escalation
		// does not end a question.
	}
	if t.EndsWithAnswer {
		if r.Status == Cancelled {
			return TaskCancelled, "the question was withdrawn"
		}
		return TaskDone, ""
	}
	if t.State == TaskInputReceived {
		return t.State, ""
	}
	return t.ResumedState(), ""
}

// IsResumable reports whether a person may resume the task before the event
// that the task waits for.
func (t *Task) IsResumable() bool {
	return t.IsAsking() || t.State == TaskBlocked || t.State == TaskDeferred
}

// IsAsking reports whether the task has a pending question that it waits for, or will wait for when its run ends.
// Resuming such a task closes the question. A deferred task keeps its question.
func (t *Task) IsAsking() bool {
	return t.PendingQuestionID != "" && (t.State.IsSuspended() || t.State == TaskInputReceived || t.State == TaskInProgress)
}

// CannotResumeError returns the error for resuming a task that waits for nothing.
func (t *Task) CannotResumeError() error {
	e := Errorf(CodeIllegalTransition, "a task that is %s cannot be resumed to %s", t.State, TaskInputReceived)
	switch {
	case t.State.IsEnded():
		return e.WithHint("an ended task is reopened: fermata reopen %s", t.ID)
	case t.State == TaskInProgress:
		return e.WithHint("an agent works on it; to tell it something: fermata message %s TEXT", t.ID)
	default:
		return e.WithHint("it waits for a worker that claims it: fermata worker")
	}
}

// CheckCancelAgain returns an error if a cancelled task is cancelled again with another reason, because that reason would
// be lost. It accepts the same reason or none.
func (t *Task) CheckCancelAgain(reason string) error {
	if reason == "" || reason == t.Reason {
		return nil
	}
	return Errorf(CodeIllegalTransition, "the task was cancelled before, and your reason came too late to be kept with it").
		WithHint("write it into the thread of the task: fermata message %s TEXT", t.ID)
}

// CheckPause returns an error if the task cannot be paused, because it has
// ended or no worker runs it.
func (t *Task) CheckPause() error {
	switch {
	case t.State.IsEnded():
		return Errorf(CodeIllegalTransition, "a task that is %s cannot be paused", t.State).
			WithHint("an ended task is reopened: fermata reopen %s", t.ID)
	case t.Runner == RunnerExternal:
		return Errorf(CodeIllegalTransition, "the task belongs to its creator, and no worker runs it: it cannot be paused").
			WithHint("cancel it, or stop its program where it runs")
	case t.Runner == RunnerWorkflow:
		return Errorf(CodeIllegalTransition, "a run of a workflow cannot be paused").
			WithHint("pause the task that it waits for, or cancel the run")
	}
	return nil
}

// CheckNotPaused returns an error for a paused task. Only resuming may move such a task on.
func (t *Task) CheckNotPaused() error {
	if !t.IsPaused() {
		return nil
	}
	return Errorf(CodeIllegalTransition, "the task is paused: only resuming it hands it back").WithHint("fermata resume %s", t.ID)
}
