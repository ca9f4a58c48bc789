package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// trimLength is about how many events are added to the trimmed ranges at once.
	trimLength = 4000
	// joinedKept is the largest number of kept events up to which a trimmed range is joined with the one before.
	joinedKept = 1000
)

// trimPlan is what one transaction removes: tasks, and events of trimmed ranges. It is made before the transaction, which
// only checks that nothing was changed.
type trimPlan struct {
	t     *retention
	tasks []*fermata.Task
	// lastEvents are the numbers of the last event about each task.
	lastEvents map[string]int64
	// last is the last trimmed range before the removal. It is the zero value if there was none.
	last fermata.SignedTrimmedRange
	// before are the ranges that change, as they were; after are the ranges as they will be. A range that was joined with the
	// one before it is not among them.
	before, after []fermata.SignedTrimmedRange
	// removed are the numbers of the removed events, in order.
	removed []int64
	// isRemoved reports whether an event is removed.
	isRemoved func(*fermata.Event) bool
}

func (p *trimPlan) isEmpty() bool { return p == nil || len(p.after) == 0 }

// planTrim plans the removal of tasks that ended before the limit, and of events before it.
func (t *retention) planTrim(limit time.Time) (*trimPlan, error) {
	p := &trimPlan{t: t}
	var err error
	if p.last, _, err = t.r.LastTrimmedRange(); err != nil {
		return nil, err
	}
	end, err := t.chooseTrimEnd(p.last.Last, limit)
	if err != nil {
		return nil, err
	}
	if err := p.chooseTasks(limit, max(p.last.Last, end.Seq)); err != nil {
		return nil, err
	}
	if p.isRemoved, err = t.removedEvents(p.taskIDs()); err != nil {
		return nil, err
	}
	err = p.trimAgain()
	if err == nil && end.Seq > 0 {
		err = p.trimUpTo(end)
	}
	// The events of a range that is joined with another one are looked at twice.
	slices.Sort(p.removed)
	p.removed = slices.Compact(p.removed)
	return p, err
}

func (p *trimPlan) taskIDs() []string {
	ids := make([]string, len(p.tasks))
	for i, t := range p.tasks {
		ids[i] = t.ID
	}
	return ids
}

// chooseTrimEnd returns the checkpoint up to which the chain is trimmed next, or the zero value if there is none before the
// limit. Events that the server itself still has to read are not trimmed.
func (t *retention) chooseTrimEnd(trimmed int64, limit time.Time) (chosen fermata.SignedCheckpoint, err error) {
	end, err := t.r.SeqAt(limit)
	if err != nil {
		return chosen, err
	}
	unread, err := t.r.FirstUnreadEvent()
	if err != nil {
		return chosen, err
	}
	events, err := t.r.Events(store.EventFilter{After: trimmed, Types: []string{string(fermata.EventAuditCheckpoint)}, Limit: 500})
	if err != nil {
		return chosen, err
	}
	for _, e := range events {
		c, err := checkpointOf(e)
		if err != nil {
			return chosen, err
		}
		if c.Seq >= min(end, unread) || chosen.Seq > 0 && c.Seq-trimmed > trimLength {
			break
		}
		if c.Seq > trimmed {
			chosen = c
		}
	}
	if chosen.Seq == 0 {
		return chosen, nil
	}
	if chosen.Workspace != t.r.Workspace() {
		return chosen, fmt.Errorf("the checkpoint of event %d is of another workspace: %s", chosen.Seq, chosen.Workspace)
	}
	return chosen, t.e.opts.Signer.Verify(chosen)
}

// removedEvents returns a function that reports whether an event is removed: it is about one of the tasks, or only reports
// something that is over. The other events are kept, because the audit compares what exists with them: members, tokens,
// rules, workflows, and uses of rules with a limit.
func (t *retention) removedEvents(taskIDs []string) (func(*fermata.Event) bool, error) {
	rules, err := t.r.GateRules()
	if err != nil {
		return nil, err
	}
	sessions, err := t.r.Sessions()
	if err != nil {
		return nil, err
	}
	existing := map[string]bool{}
	for _, r := range rules {
		existing[r.ID] = r.IsLimited()
	}
	for _, s := range sessions {
		existing[s.ID] = true
	}
	removed := map[string]bool{}
	for _, id := range taskIDs {
		removed[id] = true
	}
	return func(e *fermata.Event) bool {
		switch {
		case e.Type == fermata.EventGateDecided && existing[textOf(eventFacts(e), "rule_id")]:
			return false
		case e.TaskID != "":
			return removed[e.TaskID]
		case e.Type == fermata.EventMemberSignedIn || e.Type == fermata.EventMemberSignedOut:
			return !existing[textOf(eventFacts(e), "session_id")]
		}
		return slices.Contains(passingEvents, e.Type)
	}, nil
}

// passingEvents are the types of events that describe nothing that exists later, if they are about no task.
var passingEvents = []fermata.EventType{
	fermata.EventAuditCheckpoint, fermata.EventRetentionApplied, fermata.EventGateDecided, fermata.EventDeliveryDead, fermata.EventDeliveryAlert,
	fermata.EventTriggerSkipped, fermata.EventLabelAdded, fermata.EventDeploymentRequested,
}

// trimAgain removes the events of the tasks from ranges that were trimmed before.
func (p *trimPlan) trimAgain() error {
	if len(p.tasks) == 0 {
		return nil
	}
	seqs, err := p.t.r.EventSeqs(p.taskIDs())
	if err != nil {
		return err
	}
	var done int64
	for _, seq := range seqs {
		if seq <= done {
			continue
		}
		if seq > p.last.Last {
			return nil
		}
		old, ok, err := p.t.r.TrimmedRangeOf(seq)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("event %d is before the end of the trimmed ranges, and in none of them", seq)
		}
		kept, err := p.t.keptEvents(old)
		if err != nil {
			return err
		}
		done = old.Last
		p.before = append(p.before, old)
		if err := p.addRange(old.TrimmedRange, p.keep(kept)); err != nil {
			return err
		}
	}
	return nil
}

// trimUpTo trims the chain from the end of the trimmed ranges to a checkpoint. It joins the new range with the last one if
// both keep few events.
func (p *trimPlan) trimUpTo(end fermata.SignedCheckpoint) error {
	chain := fermata.Chain{Seq: p.last.Last, Hash: p.last.Hash}
	trimmed := fermata.TrimmedRange{Workspace: p.t.r.Workspace(), First: chain.Seq + 1, PrevHash: chain.Hash, Last: end.Seq, Hash: end.Hash}
	events, err := p.t.eventsUpTo(&chain, end.Seq)
	if err != nil {
		return err
	}
	if chain.Hash != end.Hash {
		return fmt.Errorf("the chain differs from its checkpoint at event %d", end.Seq)
	}
	last := p.last
	if n := len(p.after); n > 0 && p.after[n-1].First == last.First {
		last = p.after[n-1]
	}
	kept := p.keep(events)
	if p.last.Last == 0 || last.Kept+int64(len(kept)) > joinedKept {
		return p.addRange(trimmed, kept)
	}
	earlier, err := p.t.keptEvents(p.last)
	if err != nil {
		return err
	}
	trimmed.First, trimmed.PrevHash = p.last.First, p.last.PrevHash
	p.after = slices.DeleteFunc(p.after, func(r fermata.SignedTrimmedRange) bool { return r.First == p.last.First })
	p.before = append(p.before, p.last)
	return p.addRange(trimmed, append(p.keep(earlier), kept...))
}

// keep returns the events that are kept, and notes the others.
func (p *trimPlan) keep(events []*fermata.Event) (kept []*fermata.Event) {
	for _, e := range events {
		if p.isRemoved(e) {
			p.removed = append(p.removed, e.Seq)
		} else {
			kept = append(kept, e)
		}
	}
	return kept
}

// addRange plans a trimmed range that keeps the events.
func (p *trimPlan) addRange(trimmed fermata.TrimmedRange, kept []*fermata.Event) error {
	trimmed.Kept, trimmed.KeptHash, trimmed.At = int64(len(kept)), fermata.HashEvents(kept), p.t.now
	signed, err := p.t.e.opts.Signer.SignRange(trimmed)
	p.after = append(p.after, signed)
	return err
}

// eventsUpTo reads and verifies the events from the end of the chain to the one with the number.
func (t *retention) eventsUpTo(chain *fermata.Chain, last int64) (events []*fermata.Event, err error) {
	for chain.Seq < last {
		page, err := t.r.Events(store.EventFilter{After: chain.Seq, Before: last + 1, Limit: exportPage})
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return nil, errMissing
		}
		for _, e := range page {
			if err := chain.VerifyNext(e); err != nil {
				return nil, err
			}
		}
		events = append(events, page...)
	}
	return events, nil
}

// keptEvents reads and verifies the events of a trimmed range.
func (t *retention) keptEvents(signed fermata.SignedTrimmedRange) ([]*fermata.Event, error) {
	if err := t.e.opts.Signer.VerifyRange(signed); err != nil {
		return nil, err
	}
	v := fermata.ChainVerification{Chain: fermata.Chain{Seq: signed.First - 1, Hash: signed.PrevHash}}
	if err := v.EnterRange(signed.TrimmedRange); err != nil {
		return nil, err
	}
	var events []*fermata.Event
	for after := signed.First - 1; ; {
		page, err := t.r.Events(store.EventFilter{After: after, Before: signed.Last + 1, Limit: exportPage})
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return events, v.Finish()
		}
		for _, e := range page {
			if err := v.VerifyNext(e); err != nil {
				return nil, err
			}
		}
		events, after = append(events, page...), page[len(page)-1].Seq
	}
}

// apply removes what was planned. It returns [errOutdatedPlan] if another write changed some of it.
func (p *trimPlan) apply(tx *store.Tx) (fermata.Removal, error) {
	if err := p.check(tx); err != nil {
		return fermata.Removal{}, err
	}
	ids := p.taskIDs()
	if len(ids) > 0 {
		if err := tx.DeleteTasks(ids); err != nil {
			return fermata.Removal{}, err
		}
	}
	tx.DeleteEvents(p.removed)
	upTo := p.last.Last
	for _, r := range p.after {
		tx.SaveTrimmedRange(r)
		upTo = max(upTo, r.Last)
	}
	return fermata.Removal{Tasks: fermata.CountRemoved(p.tasks), Events: int64(len(p.removed)), UpTo: upTo}, nil
}

// check returns [errOutdatedPlan] if a task, its events or a trimmed range was changed since the plan was made.
func (p *trimPlan) check(tx *store.Tx) error {
	last, _, err := tx.LastTrimmedRange()
	if err != nil {
		return err
	}
	if last.Note != p.last.Note || tx.HasEventsAbout(p.taskIDs()) {
		return errOutdatedPlan
	}
	for _, old := range p.before {
		now, _, err := tx.TrimmedRangeOf(old.First)
		if err != nil {
			return err
		}
		if now.Note != old.Note {
			return errOutdatedPlan
		}
	}
	if len(p.tasks) == 0 {
		return nil
	}
	versions, err := tx.TaskVersions(p.taskIDs())
	if err != nil {
		return err
	}
	lastEvents, err := tx.LastEvents(p.taskIDs())
	if err != nil {
		return err
	}
	for _, t := range p.tasks {
		if versions[t.ID] != t.Version {
			return errOutdatedPlan
		}
	}
	if !maps.Equal(lastEvents, p.lastEvents) {
		return errOutdatedPlan
	}
	return nil
}

// removalOf returns what an event of the type [fermata.EventRetentionApplied] reports.
func removalOf(e *fermata.Event) (removed fermata.Removal) {
	_ = json.Unmarshal(e.Data, &removed) // data that was changed breaks the chain, and the audit reports that
	return removed
}
