package fermata

import "time"

// MessageKind tells a plain message from a clarification.
type MessageKind string

// Kinds of messages.
const (
	MessagePlain         MessageKind = "message"
	MessageClarification MessageKind = "clarification"
	// MessageComment is for people: it decides nothing, resumes nothing, and no
	// run is handed it.
	MessageComment MessageKind = "comment"
)

// MaxMessage is the length of a message in characters.
const MaxMessage = 20_000

// Message is a line of a task's chat thread.
type Message struct {
	ID          string      `json:"id"`
	WorkspaceID string      `json:"workspace_id"`
	TaskID      string      `json:"task_id"`
	QuestionID  string      `json:"question_id,omitempty"`
	Kind        MessageKind `json:"kind" enum:"message,clarification,comment"`
	Author      Actor       `json:"author"`
	Body        string      `json:"body"`
	CreatedAt   time.Time   `json:"created_at"`
	// HandedTo is the run that was handed a person's message.
	HandedTo string `json:"-"`
}

// CheckMessage reports what is wrong with the text of a message.
func CheckMessage(body string) error {
	var ps problems
	ps.text("body", body, 1, MaxMessage)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Interrupt returns the state into which a person's message moves the task,
// and false when the task stays where it is: a running one is told at its
// next contact, a blocked one when it is unblocked, an ended one never.
func (t *Task) Interrupt() (TaskState, bool) {
	if t.Runner == RunnerExternal && t.State.Suspended() {
		// Whoever owns it reads the thread; the question stays open.
		return t.State, false
	}
	switch t.State {
	case TaskOpen, TaskAwaitingInput, TaskAwaitingApproval, TaskDeferred:
		return TaskInputReceived, true
	default:
		return t.State, false
	}
}

// Resumed returns the state of a suspended task whose question closed.
func (t *Task) Resumed() TaskState {
	if t.Runner == RunnerExternal {
		return TaskInProgress
	}
	return TaskInputReceived
}

// Ready returns the state of a task that nothing holds back any more: with
// something to hand over it goes before all open ones.
func (t *Task) Ready() TaskState {
	switch {
	case t.Runner == RunnerExternal:
		return TaskInProgress
	case t.Unread > 0:
		return TaskInputReceived
	default:
		return TaskOpen
	}
}
