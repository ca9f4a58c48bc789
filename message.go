package fermata

import "time"

// MessageKind is the kind of a message.
type MessageKind string

// Kinds of messages.
const (
	MessagePlain         MessageKind = "message"
	MessageClarification MessageKind = "clarification"
	// MessageComment is a comment for people. It decides nothing, resumes
	// nothing, and is never handed to a run.
	MessageComment MessageKind = "comment"
)

// MaxMessage is the maximum length of a message in characters.
const MaxMessage = 20_000

// Message is one message in a task's thread.
type Message struct {
	ID          string      `json:"id"`
	WorkspaceID string      `json:"workspace_id"`
	TaskID      string      `json:"task_id"`
	QuestionID  string      `json:"question_id,omitempty"`
	Kind        MessageKind `json:"kind" enum:"message,clarification,comment"`
	Author      Actor       `json:"author"`
	Body        string      `json:"body"`
	// Cancels reports whether the message is its author's reason for cancelling the task.
	Cancels   bool      `json:"cancels,omitempty" doc:"it says why its author cancelled the task"`
	CreatedAt time.Time `json:"created_at"`
	// HandedTo is the run that was handed the message, or [DeskRunID]. HandedAt
	// is the instant of the hand-off.
	HandedTo string     `json:"handed_to,omitempty" doc:"the run that was handed it, or desk: an agent outside any run"`
	HandedAt *time.Time `json:"handed_at,omitempty"`
	// Handoff is the state of the message's hand-off. It is empty for a message
	// that is not for agents.
	Handoff HandoffState `json:"receipt,omitempty" enum:"handed,waits,paused,ended,maker,unread" doc:"handed: a run was handed it, or an agent at the desk; waits: the agent is handed it at its next contact, or by the next run; paused: the agent is handed it when somebody resumes the task; ended: no agent reads it unless the task is reopened; maker: the creator of the external task reads its thread; unread: a workflow reads no messages"`
}

// HandoffState is the state of the hand-off of a message to an agent.
type HandoffState string

// States of a hand-off.
const (
	// HandoffHanded means that a run was handed the message.
	HandoffHanded HandoffState = "handed"
	// HandoffWaits means that the running agent gets the message at its next
	// contact, or else the next run gets it.
	HandoffWaits HandoffState = "waits"
	// HandoffPaused means that the task is paused. Its agent gets the message when a person resumes the task.
	HandoffPaused HandoffState = "paused"
	// HandoffEnded means that no agent reads the message unless the task is reopened.
	HandoffEnded HandoffState = "ended"
	// HandoffMaker means that the task belongs to its creator, who reads the
	// thread. Fermata does not learn when the creator reads it.
	HandoffMaker HandoffState = "maker"
	// HandoffUnread means that the task is a run of a workflow, which reads no messages.
	HandoffUnread HandoffState = "unread"
)

// DeskRunID is stored instead of a run id for a message that the agent of an
// external task was handed.
const DeskRunID = "desk"

// IsForAgents reports whether agents should read the message. Comments and the agents' own messages are not for agents.
func (m *Message) IsForAgents() bool {
	return m.Kind != MessageComment && (m.Author.Kind == ActorHuman || m.Author.Kind == ActorSystem)
}

// ReadsMessages reports whether the runs of the task are handed people's messages.
func (t *Task) ReadsMessages() bool { return t.Runner != RunnerWorkflow }

// HandoffStateOf returns the state of the hand-off of a message in the task's thread.
func (t *Task) HandoffStateOf(m *Message) HandoffState {
	switch {
	case !m.IsForAgents():
		return ""
	case m.HandedTo != "":
		return HandoffHanded
	case !t.ReadsMessages():
		return HandoffUnread
	case t.State.IsEnded():
		return HandoffEnded
	case t.Runner == RunnerExternal:
		return HandoffMaker
	case t.IsPaused():
		return HandoffPaused
	default:
		return HandoffWaits
	}
}

// CheckMessage returns an error if the text of a message is not valid.
func CheckMessage(body string) error {
	var ps problems
	ps.checkText("body", body, 1, MaxMessage)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// StateAfterMessage returns the state to which a person's message moves the task. It returns false if the task keeps
// its state. A running task then gets the message at its next contact, and a blocked task when it is unblocked. An
// ended task gets the message only if it is reopened.
func (t *Task) StateAfterMessage() (TaskState, bool) {
	if t.Runner == RunnerExternal && t.State.IsSuspended() || !t.ReadsMessages() {
		// The owner of an external task reads the thread, and a workflow reads no messages. The question stays open.
		return t.State, false
	}
	if t.IsPaused() {
		// Only a person who resumes the task hands it to a worker again.
		return t.State, false
	}
	switch t.State {
	case TaskOpen, TaskAwaitingInput, TaskAwaitingApproval, TaskDeferred:
		return TaskInputReceived, true
	default:
		return t.State, false
	}
}

// ResumedState returns the state that a suspended task takes when its question closes.
func (t *Task) ResumedState() TaskState {
	if t.Runner == RunnerExternal {
		return TaskInProgress
	}
	return TaskInputReceived
}

// ReadyState returns the state of a task that nothing holds back. A task with
// unread messages or answers gets the state that workers claim before all open
// tasks.
func (t *Task) ReadyState() TaskState {
	switch {
	case t.Runner == RunnerExternal:
		return TaskInProgress
	case t.Unread > 0:
		return TaskInputReceived
	default:
		return TaskOpen
	}
}
