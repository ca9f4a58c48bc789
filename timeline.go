package fermata

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// TimelineKind is the kind of a timeline entry.
type TimelineKind string

// Kinds of timeline entries.
const (
	TimelineMessage  TimelineKind = "message"
	TimelineQuestion TimelineKind = "question"
	TimelineProgress TimelineKind = "progress"
	TimelineRun      TimelineKind = "run"
	TimelineTask     TimelineKind = "task"
	// TimelineOther is for everything else, such as a delivery.
	TimelineOther TimelineKind = "other"
)

// TimelineEntry is one event of a task, together with the current state of its subject.
type TimelineEntry struct {
	// Seq is the number of the event.
	Seq        int64        `json:"seq"`
	At         time.Time    `json:"at"`
	Kind       TimelineKind `json:"kind" enum:"message,question,progress,run,task,other"`
	Type       EventType    `json:"type" doc:"the type of the event"`
	Actor      Actor        `json:"actor"`
	QuestionID string       `json:"question_id,omitempty"`
	RunID      string       `json:"run_id,omitempty"`
	// From and To are set if the event moved the task.
	From TaskState `json:"from,omitempty"`
	To   TaskState `json:"to,omitempty"`
	// Reason says why the task ended, if that is not obvious.
	Reason string `json:"reason,omitempty"`
	// Message is the message that was posted.
	Message *Message `json:"message,omitempty"`
	// Question is the question in its current state. It is set only for question.asked.
	Question *Question `json:"question,omitempty"`
	// Resolution is how the question ended. It is set only for the event that closed it.
	Resolution *Resolution `json:"resolution,omitempty"`
	Progress   *Progress   `json:"progress,omitempty"`
	// Run is the run that began or ended, in its current state.
	Run *Run `json:"run,omitempty"`
	// Data is the data of the event.
	Data json.RawMessage `json:"data,omitempty"`
}

// kindOf returns the timeline kind of an event type.
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

// Timeline is a part of a task's history, the oldest event first.
type Timeline []*TimelineEntry

// NewTimeline returns the entries of the events. Their messages, questions and
// runs are not filled in; see [Timeline.NeededIDs].
func NewTimeline(events []*Event) Timeline {
	list := make(Timeline, 0, len(events))
	for _, e := range events {
		entry := &TimelineEntry{
			Seq: e.Seq, At: e.At, Kind: kindOf(e.Type), Type: e.Type, Actor: e.Actor, QuestionID: e.QuestionID, RunID: e.RunID, Data: e.Data,
		}
		entry.readData()
		list = append(list, entry)
	}
	return list
}

// readData copies known fields from the event's data into the entry. It ignores
// data of another form.
func (e *TimelineEntry) readData() {
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
		// This message holds only the id until [Timeline.Fill] replaces it.
		e.Message = &Message{ID: d.MessageID}
	}
}

// closesQuestion reports whether the event closed a question.
func (e *TimelineEntry) closesQuestion() bool {
	return slices.Contains(ClosingEventTypes, e.Type)
}

// NeededIDs returns the ids of the messages, questions and runs that [Timeline.Fill] needs.
func (tl Timeline) NeededIDs() (messages, questions, runs []string) {
	for _, e := range tl {
		switch {
		case e.Message != nil:
			messages = append(messages, e.Message.ID)
		case e.Type == EventQuestionAsked || e.closesQuestion():
			questions = append(questions, e.QuestionID)
		case e.Kind == TimelineRun && e.RunID != "":
			runs = append(runs, e.RunID)
		}
	}
	return messages, questions, runs
}

// Fill sets the messages, questions and runs of the entries.
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
			case e.closesQuestion():
				e.Resolution = q.Resolution
			}
		}
		if e.Kind == TimelineRun {
			e.Run, _ = byID[e.RunID].(*Run)
		}
	}
}
