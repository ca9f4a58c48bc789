package seams

import (
	"encoding/json"
	"sync"

	"github.com/fermata-hq/fermata"
)

// changeSignal wakes every goroutine that waits for a change.
type changeSignal struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed by the next signal.
func (b *changeSignal) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *changeSignal) signal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// stateChange is the change of a task's state in an event.
type stateChange struct {
	From   fermata.TaskState `json:"from"`
	To     fermata.TaskState `json:"to"`
	Reason string            `json:"reason"`
}

// stateChangeOf returns the change of state that an event carries.
func stateChangeOf(e *fermata.Event) stateChange {
	var m stateChange
	if len(e.Data) > 0 {
		_ = json.Unmarshal(e.Data, &m) // data without a move has none of these fields
	}
	return m
}

// entry is the state of one task according to the events.
type entry struct {
	State  fermata.TaskState
	Reason string
	// Run is the run that holds the task. Runs has the state of each run.
	Run  string
	Runs map[string]fermata.RunState
	// Questions has the status of each question of the task.
	Questions map[string]fermata.QuestionStatus
	// Extended has the questions whose deadline a person moved.
	Extended map[string]bool
	// Suspending is the pending question on which the task stops.
	Suspending string
	// Held is the question whose answer can still be taken back.
	Held string
}

func newEntry() *entry {
	return &entry{Runs: map[string]fermata.RunState{}, Questions: map[string]fermata.QuestionStatus{}, Extended: map[string]bool{}}
}

// apply adds one event.
func (t *entry) apply(e *fermata.Event) {
	switch e.Type {
	case fermata.EventTaskClaimed:
		t.Run, t.Runs[e.RunID] = e.RunID, fermata.RunRunning
	case fermata.EventRunFinished:
		t.Runs[e.RunID] = fermata.RunFinished
	case fermata.EventRunLost:
		t.Runs[e.RunID] = fermata.RunLost
	case fermata.EventRunReleased:
		t.Runs[e.RunID] = fermata.RunReleased
	case fermata.EventQuestionAsked:
		t.Questions[e.QuestionID] = fermata.Pending
		if kind := typeOf(e); kind.Suspends() {
			t.Suspending = e.QuestionID
		}
	case fermata.EventQuestionExtended:
		t.Extended[e.QuestionID] = true
	case fermata.EventQuestionHeld:
		t.Held = e.QuestionID
	case fermata.EventQuestionUndone:
		t.Held = ""
	case fermata.EventQuestionAnswered:
		t.close(e.QuestionID, fermata.Answered)
	case fermata.EventQuestionTimedOut:
		t.close(e.QuestionID, fermata.TimedOut)
	case fermata.EventQuestionCancelled:
		t.close(e.QuestionID, fermata.Cancelled)
	default:
	}
	if m := stateChangeOf(e); m.To != "" && isTaskMove(e.Type) {
		t.State, t.Reason = m.To, m.Reason
	}
}

func (t *entry) close(id string, how fermata.QuestionStatus) {
	t.Questions[id] = how
	if t.Held == id {
		t.Held = ""
	}
	if t.Suspending == id {
		t.Suspending = ""
	}
}

// isTaskMove reports whether the fields "from" and "to" of an event of this type are states of the task.
func isTaskMove(t fermata.EventType) bool {
	return t.IsOneOf([]string{"task", "question", "message", "run"})
}

func typeOf(e *fermata.Event) fermata.QuestionType {
	var asked struct {
		Type fermata.QuestionType `json:"type"`
	}
	_ = json.Unmarshal(e.Data, &asked) // an event without a type suspends nothing
	return asked.Type
}

// ledger is the state of all tasks, built from the stream of events alone.
type ledger struct {
	mu    sync.Mutex
	tasks map[string]*entry
	bell  *changeSignal
	seq   int64
	gaps  []int64
}

func newLedger(b *changeSignal) *ledger { return &ledger{tasks: map[string]*entry{}, bell: b} }

func (l *ledger) add(e *fermata.Event) {
	l.mu.Lock()
	if e.Seq != l.seq+1 {
		l.gaps = append(l.gaps, e.Seq)
	}
	l.seq = e.Seq
	if e.TaskID != "" {
		t := l.tasks[e.TaskID]
		if t == nil {
			t = newEntry()
			l.tasks[e.TaskID] = t
		}
		t.apply(e)
	}
	l.mu.Unlock()
	l.bell.signal()
}

// entryOf returns the present state of a task, without its runs and questions. It returns the zero entry if the task is
// unknown.
func (l *ledger) entryOf(id string) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tasks[id]
	if t == nil {
		return entry{}
	}
	now := *t
	now.Runs, now.Questions, now.Extended = nil, nil, nil // these maps belong to the ledger
	return now
}

// status returns the status of a question of a task.
func (l *ledger) status(task, question string) fermata.QuestionStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tasks[task]; t != nil {
		return t.Questions[question]
	}
	return ""
}

// isExtended reports whether a person moved the deadline of a question.
func (l *ledger) isExtended(task, question string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tasks[task]
	return t != nil && t.Extended[question]
}

// runState returns the state of a run.
func (l *ledger) runState(task, run string) fermata.RunState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tasks[task]; t != nil {
		return t.Runs[run]
	}
	return ""
}

// forget drops a task, so that a long test needs little memory.
func (l *ledger) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tasks, id)
}
