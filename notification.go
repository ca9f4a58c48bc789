package fermata

import (
	"encoding/json"
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
	// Question is as it stands now, for what is about one.
	Question *Question `json:"question,omitempty"`
}

// TaskBrief names a task.
type TaskBrief struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	State TaskState `json:"state"`
}

// Notifications are one part of what concerns a person, newest first.
type Notifications struct {
	Items      []Notification `json:"items"`
	NextCursor string         `json:"next_cursor,omitempty" doc:"absent in the last part"`
	// Unread counts those behind ReadUpTo, up to 100.
	Unread   int   `json:"unread"`
	ReadUpTo int64 `json:"read_up_to"`
}

// MaxUnread is up to how many notifications are counted.
const MaxUnread = 100

// NotifiedOf are the types of events that may concern a person.
var NotifiedOf = []EventType{
	EventQuestionAsked, EventQuestionAssigned, EventQuestionEscalated, EventQuestionAnswered, EventQuestionTimedOut,
	EventQuestionCancelled, EventQuestionAnsweredLate, EventTaskEnded,
}

// Concerns reports whether an event is news for the caller: a question that
// the caller may answer or that stopped a task of the caller's, and the end of
// a task that the caller started or took part in. What one did oneself is no
// news.
func (e *Event) Concerns(c Caller, t *Task, q *Question, tookPart bool) bool {
	if c.MemberID == "" || e.Actor.ID == c.MemberID || t != nil && !c.VisibleProjects().Has(t.Project) {
		return false
	}
	mine := t != nil && t.CreatedBy.ID == c.MemberID
	switch e.Type {
	case EventQuestionAsked, EventQuestionAssigned, EventQuestionEscalated:
		return q != nil && q.MayAnswer(c) == nil
	case EventQuestionAnswered, EventQuestionTimedOut, EventQuestionCancelled, EventQuestionAnsweredLate:
		return q != nil && (mine || q.MayAnswer(c) == nil)
	case EventTaskEnded:
		var d struct {
			To TaskState `json:"to"`
		}
		if json.Unmarshal(e.Data, &d) != nil {
			return false
		}
		return (mine || tookPart) && (d.To == TaskDone || d.To == TaskFailed)
	default:
		return false
	}
}
