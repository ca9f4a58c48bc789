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
	// Cancels says that the message is why its author cancelled the task.
	Cancels   bool      `json:"cancels,omitempty" doc:"it says why its author cancelled the task"`
	CreatedAt time.Time `json:"created_at"`
	// HandedTo is the run that was handed the message, or [AtTheDesk], and HandedAt when.
	HandedTo string     `json:"handed_to,omitempty" doc:"the run that was handed it, or desk: an agent outside any run"`
	HandedAt *time.Time `json:"handed_at,omitempty"`
	// Receipt says what becomes of the message; empty for one that is for no agent.
	Receipt Receipt `json:"receipt,omitempty" enum:"handed,waits,paused,ended,maker,unread" doc:"handed: a run was handed it, or an agent at the desk; waits: the agent is handed it at its next contact, or by the next run; paused: the agent is handed it when somebody resumes the task; ended: no agent reads it unless the task is reopened; maker: whoever made the external task reads its thread; unread: a workflow reads no messages"`
}

// Receipt says what becomes of a message to an agent.
type Receipt string

// Receipts.
const (
	// ReceiptHanded says that a run was handed the message.
	ReceiptHanded Receipt = "handed"
	// ReceiptWaits says that the running agent is handed the message at its next
	// contact, or else the next run.
	ReceiptWaits Receipt = "waits"
	// ReceiptPaused says that the task is paused: its agent is handed the message when
	// somebody resumes it.
	ReceiptPaused Receipt = "paused"
	// ReceiptEnded says that no agent reads the message unless the task is reopened.
	ReceiptEnded Receipt = "ended"
	// ReceiptMaker says that the task belongs to its maker, who reads the thread;
	// Fermata does not learn when.
	ReceiptMaker Receipt = "maker"
	// ReceiptUnread says that the task is a run of a workflow, which reads no messages.
	ReceiptUnread Receipt = "unread"
)

// AtTheDesk stands for the run of a message that the agent of an external task was handed.
const AtTheDesk = "desk"

// Receipts lists every receipt.
var Receipts = []Receipt{ReceiptHanded, ReceiptWaits, ReceiptPaused, ReceiptEnded, ReceiptMaker, ReceiptUnread}

// IsForAgents reports whether the message is one that an agent is to read: comments and
// the agents' own words are not.
func (m *Message) IsForAgents() bool {
	return m.Kind != MessageComment && (m.Author.Kind == ActorHuman || m.Author.Kind == ActorSystem)
}

// ReadsMessages reports whether the runs of the task are handed what people write.
func (t *Task) ReadsMessages() bool { return t.Runner != RunnerWorkflow }

// ReceiptOf says what becomes of a message in the task's thread.
func (t *Task) ReceiptOf(m *Message) Receipt {
	switch {
	case !m.IsForAgents():
		return ""
	case m.HandedTo != "":
		return ReceiptHanded
	case !t.ReadsMessages():
		return ReceiptUnread
	case t.State.IsEnded():
		return ReceiptEnded
	case t.Runner == RunnerExternal:
		return ReceiptMaker
	case t.IsPaused():
		return ReceiptPaused
	default:
		return ReceiptWaits
	}
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
	if t.Runner == RunnerExternal && t.State.Suspended() || !t.ReadsMessages() {
		// Whoever owns an external task reads the thread, and a workflow reads none; the
		// question stays open.
		return t.State, false
	}
	if t.IsPaused() {
		// Only a person who resumes it hands it back.
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

// ReadyState returns the state of a task that nothing holds back any more: with
// something to hand over it goes before all open ones.
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
