package fermata

import (
	"encoding/json"
	"strings"
	"time"
)

// TimelineKind says what an entry of a timeline is about.
type TimelineKind string

// Kinds of entries.
const (
	TimelineMessage  TimelineKind = "message"
	TimelineQuestion TimelineKind = "question"
	TimelineProgress TimelineKind = "progress"
	TimelineRun      TimelineKind = "run"
	TimelineTask     TimelineKind = "task"
	// TimelineOther is for what none of the others is, such as a delivery.
	TimelineOther TimelineKind = "other"
)

// TimelineEntry is one thing that happened to a task: an event, with what it
// is about as it stands now.
type TimelineEntry struct {
	// Seq is the number of the event.
	Seq        int64        `json:"seq"`
	At         time.Time    `json:"at"`
	Kind       TimelineKind `json:"kind" enum:"message,question,progress,run,task,other"`
	Type       EventType    `json:"type" doc:"the type of the event"`
	Actor      Actor        `json:"actor"`
	QuestionID string       `json:"question_id,omitempty"`
	RunID      string       `json:"run_id,omitempty"`
	// From and To are there when the entry moved the task.
	From TaskState `json:"from,omitempty"`
	To   TaskState `json:"to,omitempty"`
	// Reason says why the task ended, when that is not plain.
	Reason string `json:"reason,omitempty"`
	// Message is what was posted.
	Message *Message `json:"message,omitempty"`
	// Question is what was asked, as it stands now; with question.asked only.
	Question *Question `json:"question,omitempty"`
	// Resolution is how the question ended; with the entry that closed it.
	Resolution *Resolution `json:"resolution,omitempty"`
	Progress   *Progress   `json:"progress,omitempty"`
	// Run is the run that began or ended, as it stands now.
	Run *Run `json:"run,omitempty"`
	// Data is what the event adds.
	Data json.RawMessage `json:"data,omitempty"`
}

// kindOf returns what an event is about.
func kindOf(t EventType) TimelineKind {
	noun, _, _ := strings.Cut(string(t), ".")
	switch {
	case t == EventTaskClaimed, noun == "run":
		return TimelineRun
	case noun == "message":
		return TimelineMessage
	case noun == "question":
		return TimelineQuestion
	case noun == "progress":
		return TimelineProgress
	case noun == "task":
		return TimelineTask
	default:
		return TimelineOther
	}
}

// Timeline is a part of what happened to a task, oldest first.
type Timeline []*TimelineEntry

// NewTimeline returns the entries of the events. What they are about is not
// filled in yet; see [Timeline.Needs].
func NewTimeline(events []*Event) Timeline {
	list := make(Timeline, 0, len(events))
	for _, e := range events {
		entry := &TimelineEntry{
			Seq: e.Seq, At: e.At, Kind: kindOf(e.Type), Type: e.Type, Actor: e.Actor, QuestionID: e.QuestionID, RunID: e.RunID, Data: e.Data,
		}
		entry.read()
		list = append(list, entry)
	}
	return list
}

// read takes out of the data what has a place of its own in the entry. Data of
// another shape stay as they are: they are the event's own affair.
func (e *TimelineEntry) read() {
	if e.Kind == TimelineProgress {
		var p Progress
		if json.Unmarshal(e.Data, &p) == nil {
			e.Progress = &p
		}
		return
	}
	var d struct {
		From      TaskState `json:"from"`
		To        TaskState `json:"to"`
		Reason    string    `json:"reason"`
		MessageID string    `json:"message_id"`
	}
	if json.Unmarshal(e.Data, &d) == nil {
		e.From, e.To, e.Reason = d.From, d.To, d.Reason
	}
	if e.Type == EventMessagePosted {
		// It stands for the message until that is filled in.
		e.Message = &Message{ID: d.MessageID}
	}
}

// closes reports whether the entry tells of a question's end.
func (e *TimelineEntry) closes() bool {
	return e.Type == EventQuestionAnswered || e.Type == EventQuestionTimedOut || e.Type == EventQuestionCancelled
}

// Needs returns the ids of what the entries are about.
func (tl Timeline) Needs() (messages, questions, runs []string) {
	for _, e := range tl {
		switch {
		case e.Message != nil:
			messages = append(messages, e.Message.ID)
		case e.Type == EventQuestionAsked || e.closes():
			questions = append(questions, e.QuestionID)
		case e.Kind == TimelineRun && e.RunID != "":
			runs = append(runs, e.RunID)
		}
	}
	return messages, questions, runs
}

// Fill puts into the entries what they are about.
func (tl Timeline) Fill(messages []*Message, questions []*Question, runs []*Run) {
	byID := make(map[string]any, len(messages)+len(questions)+len(runs))
	for _, m := range messages {
		byID[m.ID] = m
	}
	for _, q := range questions {
		byID[q.ID] = q
	}
	for _, r := range runs {
		byID[r.ID] = r
	}
	for _, e := range tl {
		if e.Message != nil {
			e.Message, _ = byID[e.Message.ID].(*Message)
		}
		if q, ok := byID[e.QuestionID].(*Question); ok {
			switch {
			case e.Type == EventQuestionAsked:
				e.Question = q
			case e.closes():
				e.Resolution = q.Resolution
			}
		}
		if e.Kind == TimelineRun {
			e.Run, _ = byID[e.RunID].(*Run)
		}
	}
}
