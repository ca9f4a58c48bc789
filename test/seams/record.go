package seams

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Case is the record of one sequence that was played.
type Case struct {
	Sequence Sequence
	// Letters maps the tasks to their letters in the sequence. Tasks lists the tasks.
	Letters map[string]byte
	Tasks   []string
	// AtRest has the tasks after the sequence, when all of them were at rest. Final has them after every agent had been
	// told to complete.
	AtRest, Final map[string]*Snapshot
	// Events has the events of each task at the very end.
	Events    map[string][]*fermata.Event
	Processes map[string][]*AgentProcess
	// Disturbed is true if servers or workers were killed or stopped.
	Disturbed bool
	// Real is true if the agents were Claude Code.
	Real bool
	// Busy is added to the promised times.
	Busy time.Duration

	mu         sync.Mutex
	Acts       []Act
	Words      []*Word
	Votes      []Vote
	Gates      []Gate
	Trespasses []Trespass
	Stops      []Stop
	// Stuck describes the tasks and questions that were not at rest in time.
	Stuck []string
}

// Snapshot is the API's view of a task.
type Snapshot struct {
	Task      *fermata.Task
	Runs      []*fermata.Run
	Questions []*fermata.Question
	Messages  []*fermata.Message
	// Seq is the number of the task's last event that the snapshot includes.
	Seq int64
}

// Act is an act that was tried, and the server's reply.
type Act struct {
	Step, Who  string
	Task       string
	Began, End time.Time
	Err        error
}

// Kinds of words.
const (
	wordMessage  = "message"
	wordAnswer   = "answer"
	wordDecision = "decision"
)

// Word is a message, an answer or a decision of a person that the server acknowledged.
type Word struct {
	Kind, Who string
	Task      string
	// Text is unique: it occurs only in this word.
	Text string
	// Question is the question that the word answers.
	Question     string
	Began, Acked time.Time
	// Run is the run whose agent was running and listened when the word was said.
	Run string
	// Held is true if its author could take the word back, Undone if the author did.
	Held, Undone bool
}

// Gate is a tool call that asked for permission, and the reply.
type Gate struct {
	Task, Run  string
	Tool       string
	Began, End time.Time
	Verdict    fermata.GateReply
	// Stopped is set if the task had ended or was paused before the call began, and still was when the reply had come.
	Stopped string
}

// Trespass is a forbidden act of a person or an agent.
type Trespass struct {
	Task, What string
	Err        error
}

// Stop is a stop that the server acknowledged.
type Stop struct {
	Task, How string
	Acked     time.Time
}

func (c *Case) record(write func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	write()
}

// recordStuck records that something was not at rest in time.
func (c *Case) recordStuck(format string, args ...any) {
	c.record(func() { c.Stuck = append(c.Stuck, fmt.Sprintf(format, args...)) })
}

// snapshot reads the whole API view of a task. It reads again if an event came in between.
func (w *World) snapshot(ctx context.Context, id string) (*Snapshot, error) {
	for {
		before, err := w.lastEvent(ctx, id)
		if err != nil {
			return nil, err
		}
		s, err := w.read(ctx, id)
		if err != nil {
			return nil, err
		}
		after, err := w.lastEvent(ctx, id)
		if err != nil {
			return nil, err
		}
		if s.Seq = after; before == after {
			return s, nil
		}
	}
}

func (w *World) lastEvent(ctx context.Context, id string) (int64, error) {
	all, err := w.events(ctx, id)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return all[len(all)-1].Seq, nil
}

func (w *World) read(ctx context.Context, id string) (*Snapshot, error) {
	s := &Snapshot{}
	var err error
	if s.Task, err = w.admin.Task(ctx, id); err != nil {
		return nil, err
	}
	if s.Runs, err = w.admin.Runs(ctx, id); err != nil {
		return nil, err
	}
	if s.Questions, _, err = w.admin.Questions(ctx, client.QuestionQuery{TaskID: id, Limit: 100}); err != nil {
		return nil, err
	}
	s.Messages, _, err = w.admin.Messages(ctx, id, "", 200)
	return s, err
}

// events reads all events of a task.
func (w *World) events(ctx context.Context, id string) ([]*fermata.Event, error) {
	var all []*fermata.Event
	for after := int64(0); ; {
		page, next, err := w.admin.Events(ctx, client.EventQuery{TaskID: id, After: after, Limit: 500})
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == 0 {
			return all, nil
		}
		after = next
	}
}
