package fermata

import (
	"time"
)

// Notification is an event that concerns a person.
type Notification struct {
	// Seq is the number of the event.
	Seq   int64     `json:"seq"`
	Type  EventType `json:"type"`
	At    time.Time `json:"at"`
	Actor Actor     `json:"actor"`
	Task  TaskBrief `json:"task"`
	// Unread reports whether the person has not read the notification. One that asks the person is read when the question
	// does not wait for the person any more.
	Unread bool `json:"unread"`
	// Question is the question of the event in its current state, if the event
	// is about one.
	Question *Question `json:"question,omitempty"`
}

// TaskBrief identifies a task and gives its title and state.
type TaskBrief struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	State TaskState `json:"state"`
}

// Notifications is one page of a person's notifications, the newest first.
type Notifications struct {
	Items      []Notification `json:"items"`
	NextCursor string         `json:"next_cursor,omitempty" doc:"absent in the last part"`
	// Unread counts the unread notifications, up to [MaxUnread].
	Unread   int   `json:"unread"`
	ReadUpTo int64 `json:"read_up_to"`
}

// MaxUnread is the number up to which unread notifications are counted.
const MaxUnread = 100

// NotificationTypes lists the types of events that may concern a person.
var NotificationTypes = []EventType{
	EventQuestionAsked, EventQuestionAssigned, EventQuestionEscalated, EventQuestionAnswered, EventQuestionTimedOut,
	EventQuestionCancelled, EventQuestionAnsweredLate, EventTaskEnded,
}

// IsUnread reports whether the caller has not read a notification of the event. The caller has read all notifications up
// to an event. One that asks the caller is read when the question does not wait for the caller any more.
func (e *Event) IsUnread(c Caller, q *Question, readUpTo int64) bool {
	switch e.Type {
	case EventQuestionAsked, EventQuestionAssigned, EventQuestionEscalated:
		return e.Seq > readUpTo && q != nil && q.Status == Pending && q.AwaitsAnswerOf(c)
	default:
		return e.Seq > readUpTo
	}
}

// Concerns reports whether the caller gets a notification of an event. The
// caller gets one for an event of a question that the caller may answer, and
// for the end of a question in a task that the caller created. The caller also
// gets one when a task is done or failed that the caller created or took part
// in. The caller's own acts cause none.
func (e *Event) Concerns(c Caller, t *Task, q *Question, tookPart bool) bool {
	if c.MemberID == "" || e.Actor.ID == c.MemberID || t != nil && !c.VisibleProjects().Has(t.Project) {
		return false
	}
	isCreator := t != nil && t.CreatedBy.ID == c.MemberID
	switch e.Type {
	case EventQuestionAsked, EventQuestionAssigned, EventQuestionEscalated:
		return q != nil && q.CheckMayAnswer(c) == nil
	case EventQuestionAnswered, EventQuestionTimedOut, EventQuestionCancelled, EventQuestionAnsweredLate:
		return q != nil && (isCreator || q.CheckMayAnswer(c) == nil)
	case EventTaskEnded:
		to := e.StoredMove().To
		return (isCreator || tookPart) && (to == TaskDone || to == TaskFailed)
	default:
		return false
	}
}
