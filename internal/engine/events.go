package engine

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// EventFilter narrows a list of events.
type EventFilter struct {
	After  int64
	TaskID string
	Types  []string
	Limit  int
}

// Events lists events in order, and returns the number after which the next
// page begins.
func (e *Engine) Events(ctx context.Context, c fermata.Caller, f EventFilter) ([]*fermata.Event, int64, error) {
	if err := require(c, fermata.ScopeRead); err != nil {
		return nil, 0, err
	}
	if f.TaskID != "" {
		id, err := e.taskID(ctx, c, f.TaskID)
		if err != nil {
			return nil, 0, err
		}
		f.TaskID = id
	}
	events, err := e.reads(ctx, c).Events(store.EventFilter{
		After: f.After, TaskID: f.TaskID, Types: f.Types, Limit: pageSize(f.Limit),
	})
	if err != nil {
		return nil, 0, err
	}
	next := f.After
	if n := len(events); n > 0 {
		next = events[n-1].Seq
	}
	return events, next, nil
}

// AuditReport says whether a workspace's events are the ones that were
// written.
type AuditReport struct {
	Events int64 `json:"events"`
	OK     bool  `json:"ok"`
	// Problem names the first event at fault.
	Problem string `json:"problem,omitempty"`
}

// VerifyAudit follows the chain of hashes from the first event to the last.
func (e *Engine) VerifyAudit(ctx context.Context, c fermata.Caller) (AuditReport, error) {
	if err := require(c, fermata.ScopeRead); err != nil {
		return AuditReport{}, err
	}
	r := e.reads(ctx, c)
	// The head is read first: events that come meanwhile only extend it.
	head, err := r.Head()
	if err != nil {
		return AuditReport{}, err
	}
	var chain fermata.Chain
	for chain.Seq < head.Seq {
		events, err := r.Events(store.EventFilter{After: chain.Seq, Limit: 1000})
		if err != nil {
			return AuditReport{}, err
		}
		if len(events) == 0 {
			return broken(chain, fmt.Sprintf("event %d and all after it are missing", chain.Seq+1)), nil
		}
		for _, event := range events {
			if err := chain.Next(event); err != nil {
				return broken(chain, err.Error()), nil
			}
			if chain.Seq == head.Seq && chain.Hash != head.Hash {
				return broken(chain, fmt.Sprintf("event %d was changed: its hash is not the one that was noted last", chain.Seq)), nil
			}
		}
	}
	// What follows must have come meanwhile, with the head that is read after it.
	behind, err := r.Events(store.EventFilter{After: chain.Seq, Limit: 1})
	if err != nil {
		return AuditReport{}, err
	}
	if head, err = r.Head(); err != nil {
		return AuditReport{}, err
	}
	if chain.Seq > head.Seq || len(behind) > 0 && behind[0].Seq > head.Seq {
		return broken(head, fmt.Sprintf("event %d was added: the last one that was noted is %d", head.Seq+1, head.Seq)), nil
	}
	return AuditReport{Events: chain.Seq, OK: true}, nil
}

func broken(chain fermata.Chain, problem string) AuditReport {
	return AuditReport{Events: chain.Seq, Problem: problem}
}

// Stats are the gauges of the whole database.
type Stats struct {
	Pending              map[fermata.QuestionType]int64
	Tasks                map[fermata.TaskState]int64
	OldestPendingSeconds float64
}

// Stats counts pending questions by type and tasks by state.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Pending: map[fermata.QuestionType]int64{}, Tasks: map[fermata.TaskState]int64{}}
	r := e.db.In(ctx, "")
	pending, err := r.CountPending()
	if err != nil {
		return s, err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return s, err
	}
	for _, n := range pending {
		s.Pending[fermata.QuestionType(n.Kind)] = n.N
		age := float64(now.UnixMilli()-n.Oldest) / 1000
		s.OldestPendingSeconds = max(s.OldestPendingSeconds, age)
	}
	tasks, err := r.CountTasks()
	for _, n := range tasks {
		s.Tasks[fermata.TaskState(n.Kind)] = n.N
	}
	return s, err
}
