package engine

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

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
	return e.verifyWith(ctx, c, e.verifyAll)
}

// VerifyAuditEnd verifies the end of the chain: the last checkpoint and its signature, and the events after it. It costs the
// same for a chain of any length, and compares neither tables nor witnesses. Without a checkpoint, it verifies the whole chain.
func (e *Engine) VerifyAuditEnd(ctx context.Context, c fermata.Caller) (AuditReport, error) {
	return e.verifyWith(ctx, c, e.verifyEnd)
}

// verifyWith verifies the database by which the server decides, and no standby.
func (e *Engine) verifyWith(ctx context.Context, c fermata.Caller, verify func(ctx context.Context, r store.Reader) (AuditReport, error)) (AuditReport, error) {
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.InEveryProject); err != nil {
		return AuditReport{}, err
	}
	r := e.reader(ctx, c).ForLongReadsOfPrimary()
	for {
		before, err := lastRemoval(r)
		if err != nil {
			return AuditReport{}, err
		}
		report, err := verify(ctx, r)
		if err != nil || report.OK {
			return report, err
		}
		// What looks like a fault may be events that were removed meanwhile.
		if after, err := lastRemoval(r); err != nil || after == before {
			return report, err
		}
	}
}

// verifyEnd verifies the events after the last checkpoint.
func (e *Engine) verifyEnd(ctx context.Context, r store.Reader) (AuditReport, error) {
	v := verification{ctx: ctx, e: e, r: r, endOnly: true}
	last, err := findCheckpoint(r, lastCheckpoint{})
	if err != nil {
		return v.report, err
	}
	if e.opts.Signer != nil && last.Seq > 0 {
		found, err := e.compare(r, last.SignedCheckpoint)
		if v.report.Problem = found.problem; err != nil || v.report.Problem != "" {
			return v.report, err
		}
		v.report.Checkpoints, v.report.SignedTo = 1, last.Seq
		v.chain.Chain = fermata.Chain{Seq: last.Seq, Hash: last.Hash}
		v.read, v.ranges.last = last.Seq, last.Seq
	}
	if err = v.follow(); err == nil && v.report.Problem == "" {
		err = v.checkEnd()
	}
	return v.finish(), err
}

// finish completes the report.
func (v *verification) finish() AuditReport {
	if v.e.opts.Signer != nil {
		v.report.PublicKey = v.e.opts.Signer.PublicKey()
	}
	v.report.OK = v.report.Problem == ""
	return v.report
}

// verifyAll verifies the chain, the tables and the witnesses.
func (e *Engine) verifyAll(ctx context.Context, r store.Reader) (AuditReport, error) {
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
	return v.finish(), err
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
	// endOnly leaves out everything except the chain.
	endOnly bool
	report  AuditReport
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
		if v.endOnly {
			continue
		}
		if v.recorded.apply(event); v.recorded.problem != "" {
			return v.reportProblem("%s", v.recorded.problem)
		}
		if err := v.checkSigned(event); err != nil || v.report.Problem != "" {
			return err
		}
	}
	if v.endOnly {
		return nil
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
