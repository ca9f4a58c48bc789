package fermata

import "slices"

// TaskState is the state of a task (docs/inside/contract.md#task-states).
type TaskState string

// States of a task.
const (
	TaskOpen             TaskState = "open"
	TaskBlocked          TaskState = "blocked"
	TaskDeferred         TaskState = "deferred"
	TaskInProgress       TaskState = "in_progress"
	TaskAwaitingInput    TaskState = "awaiting_input"
	TaskAwaitingApproval TaskState = "awaiting_approval"
	TaskInputReceived    TaskState = "input_received"
	TaskDone             TaskState = "done"
	TaskFailed           TaskState = "failed"
	TaskCancelled        TaskState = "cancelled"
	TaskSkipped          TaskState = "skipped"
)

// TaskStates lists every state, in the order in which a board shows them.
var TaskStates = []TaskState{
	TaskOpen, TaskBlocked, TaskDeferred, TaskInProgress, TaskAwaitingInput, TaskAwaitingApproval,
	TaskInputReceived, TaskDone, TaskFailed, TaskCancelled, TaskSkipped,
}

// IsEnded reports whether the task has ended, so that no worker and no clock moves it on.
func (s TaskState) IsEnded() bool {
	return s == TaskDone || s == TaskFailed || s == TaskCancelled || s == TaskSkipped
}

// IsSuspended reports whether the task waits for a person.
func (s TaskState) IsSuspended() bool {
	return s == TaskAwaitingInput || s == TaskAwaitingApproval
}

// IsClaimable reports whether a worker may claim the task.
func (s TaskState) IsClaimable() bool { return s == TaskOpen || s == TaskInputReceived }

// Transition is one row of the transition table.
type Transition struct {
	From, To TaskState
	// Causes names the causes of the transition, in the words of the API.
	Causes string
}

// Transitions is the transition table. A task changes its state in no other way.
// docs/inside/states.md draws the table, and a test compares the two.
var Transitions = []Transition{
	{TaskOpen, TaskInProgress, "claim, result of a lost run"},
	{TaskOpen, TaskBlocked, "blocked_by"},
	{TaskOpen, TaskDeferred, "defer, pause"},
	{TaskOpen, TaskInputReceived, "message"},
	{TaskOpen, TaskAwaitingInput, "ask"},
	{TaskOpen, TaskAwaitingApproval, "ask"},
	{TaskOpen, TaskSkipped, "confidence below the policy"},
	{TaskOpen, TaskCancelled, "cancel"},

	{TaskBlocked, TaskOpen, "dependencies completed, defer_until passed, resume"},
	{TaskBlocked, TaskInputReceived, "dependencies completed with something to hand over, resume with a message"},
	{TaskBlocked, TaskDeferred, "defer, pause"},
	{TaskBlocked, TaskCancelled, "cancel"},

	{TaskDeferred, TaskOpen, "defer_until passed, resume, reopen"},
	{TaskDeferred, TaskInputReceived, "defer_until passed with something to hand over, message, resume with a message"},
	{TaskDeferred, TaskBlocked, "woken while dependencies are open"},
	{TaskDeferred, TaskAwaitingInput, "resume after a pause with its question still pending"},
	{TaskDeferred, TaskAwaitingApproval, "resume after a pause with its question still pending"},
	{TaskDeferred, TaskDeferred, "defer to another time, pause"},
	{TaskDeferred, TaskCancelled, "cancel"},

	{TaskInProgress, TaskOpen, "lease ended, handed back"},
	{TaskInProgress, TaskInputReceived, "lease ended, handed back, answer during the run, ended while words of people were unread"},
	{TaskInProgress, TaskAwaitingInput, "needs_input, ask"},
	{TaskInProgress, TaskAwaitingApproval, "needs_input, ask"},
	{TaskInProgress, TaskBlocked, "blocked"},
	{TaskInProgress, TaskDeferred, "put off by its run, pause"},
	{TaskInProgress, TaskDone, "completed"},
	{TaskInProgress, TaskFailed, "failed, attempts used up, question timed out"},
	{TaskInProgress, TaskSkipped, "confidence below the policy, question timed out"},
	{TaskInProgress, TaskCancelled, "cancel"},

	{TaskAwaitingInput, TaskInputReceived, "answer, message, timeout with default, question cancelled, resume"},
	{TaskAwaitingInput, TaskInProgress, "the same, for an external task"},
	{TaskAwaitingInput, TaskAwaitingApproval, "replaced by the next question"},
	{TaskAwaitingInput, TaskFailed, "question timed out"},
	{TaskAwaitingInput, TaskSkipped, "question timed out, confidence below the policy"},
	{TaskAwaitingInput, TaskDone, "completed by its creator"},
	{TaskAwaitingInput, TaskDeferred, "pause"},
	{TaskAwaitingInput, TaskCancelled, "cancel"},

	{TaskAwaitingApproval, TaskInputReceived, "approve, reject, message, question cancelled, resume"},
	{TaskAwaitingApproval, TaskInProgress, "the same, for an external task"},
	{TaskAwaitingApproval, TaskAwaitingInput, "replaced by the next question"},
	{TaskAwaitingApproval, TaskFailed, "question timed out"},
	{TaskAwaitingApproval, TaskSkipped, "question timed out"},
	{TaskAwaitingApproval, TaskDone, "completed by its creator"},
	{TaskAwaitingApproval, TaskDeferred, "pause"},
	{TaskAwaitingApproval, TaskCancelled, "cancel"},

	{TaskInputReceived, TaskInProgress, "claim, result of a lost run"},
	{TaskInputReceived, TaskAwaitingInput, "run ended with its question still pending"},
	{TaskInputReceived, TaskAwaitingApproval, "run ended with its question still pending"},
	{TaskInputReceived, TaskBlocked, "blocked_by"},
	{TaskInputReceived, TaskDeferred, "defer, pause"},
	{TaskInputReceived, TaskFailed, "question timed out, attempts used up"},
	{TaskInputReceived, TaskSkipped, "question timed out"},
	{TaskInputReceived, TaskCancelled, "cancel"},

	{TaskDone, TaskOpen, "reopen"},
	{TaskFailed, TaskOpen, "reopen"},
	{TaskCancelled, TaskOpen, "reopen"},
	{TaskSkipped, TaskOpen, "reopen"},
	{TaskDone, TaskInputReceived, "reopen with something to hand over, late answer with restart"},
	{TaskFailed, TaskInputReceived, "reopen with something to hand over, late answer with restart"},
	{TaskCancelled, TaskInputReceived, "reopen with something to hand over"},
	{TaskSkipped, TaskInputReceived, "reopen with something to hand over, late answer with restart"},
	{TaskDone, TaskInProgress, "reopen of an external task"},
	{TaskFailed, TaskInProgress, "reopen of an external task, late answer with restart"},
	{TaskCancelled, TaskInProgress, "reopen of an external task"},
	{TaskSkipped, TaskInProgress, "reopen of an external task, late answer with restart"},
}

// CanMove reports whether the table has a transition from one state to the
// other.
func CanMove(from, to TaskState) bool {
	return slices.ContainsFunc(Transitions, func(a Transition) bool { return a.From == from && a.To == to })
}

// Move changes the task's state if the table has that transition. It refuses
// any other change with [CodeIllegalTransition], and the error names both
// states.
func (t *Task) Move(to TaskState) error {
	if !CanMove(t.State, to) {
		return Errorf(CodeIllegalTransition, "a task that is %s cannot become %s", t.State, to)
	}
	t.State = to
	if to != TaskDeferred {
		t.DeferUntil = nil
	}
	// A caller that ends or defers a task sets the reason before this move, so
	// it must stay.
	if !to.IsEnded() && to != TaskDeferred {
		t.Reason = ""
	}
	return nil
}
