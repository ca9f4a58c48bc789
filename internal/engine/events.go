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

// Events lists events in order. It also returns the number to pass as After for
// the next page.
func (e *Engine) Events(ctx context.Context, c fermata.Caller, f EventFilter) ([]*fermata.Event, int64, error) {
	if err := c.CheckPermission(fermata.ToReadEvents, fermata.UnloadedResource); err != nil {
		return nil, 0, err
	}
	types, err := fermata.VisibleEventTypes(c, "type", f.Types)
	if err != nil {
		return nil, 0, err
	}
	if f.TaskID != "" {
		id, err := e.taskID(ctx, c, f.TaskID)
		if err != nil {
			return nil, 0, err
		}
		f.TaskID = id
	}
	events, err := e.listReader(ctx, c).Events(store.EventFilter{
		After: f.After, TaskID: f.TaskID, Types: types, Limit: pageSize(f.Limit),
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

// AuditReport reports whether the events of a workspace are unchanged.
type AuditReport struct {
	Events int64 `json:"events"`
	OK     bool  `json:"ok"`
	// Problem describes the first fault; it is empty if there is none.
	Problem string `json:"problem,omitempty"`
	// Checkpoints is the number of signed ends in the chain. SignedTo is the number of the last event that they
	// cover. PublicKey is the key that verifies their signatures.
	Checkpoints int64  `json:"checkpoints"`
	SignedTo    int64  `json:"signed_to"`
	PublicKey   string `json:"public_key,omitempty"`
	// Witnessed is the number of checkpoints of the witnesses that agree with the chain.
	Witnessed int64 `json:"witnessed"`
	// Signed is the number of answers that were signed with a passkey.
	Signed int64 `json:"signed"`
	// Removed is the number of events that retention removed. Signed ranges take their place in the chain.
	Removed int64 `json:"removed"`
}

// VerifyAudit verifies the chain of hashes from the first event to the last, and the signatures of its checkpoints
// and answers. It then compares the tables by which the server decides with the chain, and the chain with the
// checkpoints of the witnesses.
func (e *Engine) VerifyAudit(ctx context.Context, c fermata.Caller) (AuditReport, error) {
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.InEveryProject); err != nil {
		return AuditReport{}, err
	}
	r := e.listReader(ctx, c)
	for {
		before, err := lastRemoval(r)
		if err != nil {
			return AuditReport{}, err
		}
		report, err := e.verifyAudit(ctx, r)
		if err != nil || report.OK {
			return report, err
		}
		// What looks like a fault may be events that were removed meanwhile.
		if after, err := lastRemoval(r); err != nil || after == before {
			return report, err
		}
	}
}

func (e *Engine) verifyAudit(ctx context.Context, r store.Reader) (AuditReport, error) {
	v := verification{ctx: ctx, e: e, r: r, recorded: newRecordedState()}
	err := v.follow()
	if err == nil && v.report.Problem == "" {
		err = v.checkEnd()
	}
	if err == nil && v.report.Problem == "" {
		err = v.checkTables()
	}
	if err == nil && v.report.Problem == "" {
		err = e.verifyWitnesses(ctx, r, &v.report)
	}
	if e.opts.Signer != nil {
		v.report.PublicKey = e.opts.Signer.PublicKey()
	}
	v.report.OK = v.report.Problem == ""
	return v.report, err
}

// verification follows a chain and records the first fault.
type verification struct {
	ctx   context.Context //nolint:containedctx // the value lives as long as the call
	e     *Engine
	r     store.Reader
	chain fermata.ChainVerification
	// read is the number of the last event that was read. Within a trimmed range it is ahead of the chain.
	read int64
	// ranges are the trimmed ranges that come next.
	ranges   trimmedRanges
	recorded recordedState
	report   AuditReport
}

func (v *verification) reportProblem(format string, args ...any) error {
	v.report.Problem = fmt.Sprintf(format, args...)
	return nil
}

// follow reads the chain from its beginning to its present end. The end is read first, because events that come later
// only extend the chain.
func (v *verification) follow() error {
	head, err := v.r.Head()
	if err != nil {
		return err
	}
	for v.chain.Seq < head.Seq {
		if err := v.readPage(head); err != nil || v.report.Problem != "" {
			return err
		}
	}
	return nil
}

// readPage verifies the next events.
func (v *verification) readPage(head fermata.Chain) error {
	events, err := v.r.Events(store.EventFilter{After: v.read, Limit: exportPage})
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return v.reportProblem("event %d and all after it are missing", v.chain.Seq+1)
	}
	for _, event := range events {
		if err := v.enterRanges(event.Seq); err != nil || v.report.Problem != "" {
			return err
		}
		if err := v.verifyNext(event, head); err != nil || v.report.Problem != "" {
			return err
		}
		if v.recorded.apply(event); v.recorded.problem != "" {
			return v.reportProblem("%s", v.recorded.problem)
		}
		if err := v.checkSigned(event); err != nil || v.report.Problem != "" {
			return err
		}
	}
	for _, check := range []func([]*fermata.Event) error{v.checkQuestions, v.checkGrants, v.checkTasks, v.checkMessages} {
		if err := check(events); err != nil || v.report.Problem != "" {
			return err
		}
	}
	return nil
}

// verifyNext verifies one event.
func (v *verification) verifyNext(event *fermata.Event, head fermata.Chain) error {
	if err := v.chain.VerifyNext(event); err != nil {
		return v.reportProblem("%s", err)
	}
	v.read = event.Seq
	v.report.Events++
	if v.chain.Seq == head.Seq && v.chain.Hash != head.Hash {
		return v.reportProblem("event %d was changed: its hash is not the one that was noted last", v.chain.Seq)
	}
	if event.Type == fermata.EventAuditCheckpoint && v.e.opts.Signer != nil {
		return v.e.verifyCheckpoint(v.r, event, &v.report)
	}
	return nil
}

// checkEnd reports a fault if the log has an event after the recorded end of the chain. The end is read after the
// event, so an event that was added during the verification is no fault.
func (v *verification) checkEnd() error {
	extra, err := v.r.Events(store.EventFilter{After: v.chain.Seq, Limit: 1})
	if err != nil {
		return err
	}
	head, err := v.r.Head()
	if err != nil {
		return err
	}
	if v.chain.Seq > head.Seq || len(extra) > 0 && extra[0].Seq > head.Seq {
		v.report.Events = head.Seq - v.report.Removed
		return v.reportProblem("event %d was added: the last one that was noted is %d", head.Seq+1, head.Seq)
	}
	return nil
}

// checkTables compares the rest of the tables with the chain. If events were added in the meantime, it follows the
// chain to its new end and compares again.
func (v *verification) checkTables() error {
	for {
		if err := v.checkLatestState(); err != nil || v.report.Problem == "" {
			return err
		}
		head, err := v.r.Head()
		if err != nil || head.Seq <= v.chain.Seq {
			return err
		}
		v.report.Problem = ""
		if err := v.follow(); err != nil || v.report.Problem != "" {
			return err
		}
	}
}

// Stats are gauges of the whole database.
type Stats struct {
	Pending              map[fermata.QuestionType]int64
	Tasks                map[fermata.TaskState]int64
	OldestPendingSeconds float64
}

// Stats counts pending questions by type and tasks by state.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Pending: map[fermata.QuestionType]int64{}, Tasks: map[fermata.TaskState]int64{}}
	r := e.db.Reader(ctx, "")
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
	workspaces, err := r.Workspaces()
	if err != nil {
		return s, err
	}
	for _, w := range workspaces {
		counts, err := e.tail.countTasks(ctx, w, func(string) bool { return true })
		if err != nil {
			return s, err
		}
		for state, n := range counts.States {
			s.Tasks[state] += n
		}
	}
	return s, nil
}
