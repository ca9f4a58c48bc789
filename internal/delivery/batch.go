package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// batch holds some events, and the deliveries that are planned for them.
type batch struct {
	w        *workspace
	channels []*openChannel
	people   *people
	// plan is the cursor, the routes and the earlier subscriptions, as they were read.
	plan   store.Plan
	events []*fermata.Event
	// head is the number of the last event for which the batch plans.
	head int64
	now  time.Time

	questions   map[string]*fermata.Question
	preferences map[string]fermata.Preferences
	// rows are the deliveries to add. wantedSeq is, by question, the number of the event that its messages must show.
	rows      []*fermata.Delivery
	wantedSeq map[string]int64
	// unreached is, by question, the reason why no person is told about it at the moment. An empty reason means that a
	// person is told. alarms are the questions about which the operators are alerted at once.
	unreached map[string]string
	alarms    []*fermata.Question
	// stale reports whether the channels or the routes had changed, so that nothing was written.
	stale bool
}

// read reads the events, the people and the questions that the events are about.
func (b *batch) read(ctx context.Context, r store.Reader, after int64) error {
	var subscribed []string
	for _, ch := range b.channels {
		subscribed = append(subscribed, ch.subscriptions()...)
	}
	for _, s := range b.plan.Earlier {
		subscribed = append(subscribed, s.Types...)
	}
	var err error
	if b.events, err = r.Events(store.EventFilter{After: after, Before: b.head + 1, Types: typesToPlan(subscribed), Limit: maxPlanBatch}); err != nil {
		return err
	}
	if len(b.events) == maxPlanBatch {
		b.head = b.events[maxPlanBatch-1].Seq
	}
	if len(b.events) == 0 {
		return nil
	}
	if b.now, err = b.w.s.db.Now(ctx); err != nil {
		return err
	}
	if b.people, err = b.w.loadPeople(ctx); err != nil {
		return err
	}
	return b.loadSubjects(r)
}

// loadSubjects reads the questions of the events, and the members' preferences.
func (b *batch) loadSubjects(r store.Reader) error {
	var questionIDs []string
	for _, e := range b.events {
		if e.QuestionID != "" && slices.Contains(plannedEventTypes, e.Type) {
			questionIDs = append(questionIDs, e.QuestionID)
		}
	}
	questions, err := r.QuestionsByID(fermata.SortUnique(questionIDs))
	if err != nil {
		return err
	}
	b.questions = map[string]*fermata.Question{}
	for _, q := range questions {
		b.questions[q.ID] = q
	}
	b.preferences = map[string]fermata.Preferences{}
	if len(b.people.members) == 0 {
		return nil
	}
	b.preferences, err = r.Preferences(b.people.ids())
	return err
}

// hasExpiredInQuietHours reports whether a question timed out while a message about it waited for the end of quiet
// hours. In this case the person is told how the question ended.
func hasExpiredInQuietHours(d *fermata.Delivery, q *fermata.Question) bool {
	return d.Reason == fermata.WaitsForQuiet && q.Status == fermata.TimedOut
}

// setUnreached records why no person is told about a question, if the reason changed.
func (b *batch) setUnreached(q *fermata.Question, reason string) {
	if q.UnreachedReason != reason {
		b.unreached[q.ID], q.UnreachedReason = reason, reason
	}
}

// isIdle reports whether there is nothing to write for the events. Progress that no member subscribed to needs no
// write.
func (b *batch) isIdle() bool {
	planned := func(e *fermata.Event) bool { return e.Type != fermata.EventProgressReported }
	return len(b.rows) == 0 && !anyWantsProgress(b.preferences) && !slices.ContainsFunc(b.events, planned)
}

// planEvents plans the deliveries for every event.
func (b *batch) planEvents() {
	for _, e := range b.events {
		b.planForSubscribers(e)
		q := b.questions[e.QuestionID]
		switch e.Type {
		case fermata.EventQuestionAsked:
			if q != nil && q.Status == fermata.Pending {
				b.planAsked(q, e)
			}
		case fermata.EventQuestionEscalated:
			if q != nil && q.Status == fermata.Pending {
				b.planEscalated(q, e)
			}
			b.wantedSeq[e.QuestionID] = e.Seq
		case fermata.EventQuestionAssigned:
			if q != nil && q.Status == fermata.Pending {
				b.planAssigned(q, e)
			}
			b.wantedSeq[e.QuestionID] = e.Seq
		case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
			b.planCallback(q, e)
			b.wantedSeq[e.QuestionID] = e.Seq
		case fermata.EventQuestionExtended, fermata.EventQuestionVoteCast, fermata.EventQuestionAnsweredLate:
			b.wantedSeq[e.QuestionID] = e.Seq
		case fermata.EventDeliveryAlert:
			b.planAlert(e)
		case fermata.EventProgressReported:
			b.planProgress(e)
		default:
		}
	}
}

// write adds the rows, stores the reasons in unreached and raises the alarms. If existing messages must show a newer
// event, it makes them due.
func (b *batch) write(tx *store.Tx) error {
	for _, d := range b.rows {
		tx.PlanDelivery(d)
	}
	for id, reason := range b.unreached {
		tx.SetUnreached(b.questions[id], reason)
	}
	for _, q := range b.alarms {
		alertUndelivered(tx, q, b.unreached[q.ID])
	}
	ids := make([]string, 0, len(b.wantedSeq))
	for id := range b.wantedSeq {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	rows, err := tx.DeliveriesOf(ids)
	if err != nil {
		return err
	}
	for _, d := range rows {
		q := b.questions[d.QuestionID]
		if d.WantedEvent >= b.wantedSeq[d.QuestionID] && d.ShownEvent >= b.wantedSeq[d.QuestionID] {
			continue
		}
		d.NoteQuestionChange(b.wantedSeq[d.QuestionID], q == nil || q.Status != fermata.Pending && !hasExpiredInQuietHours(d, q), tx.Now())
		tx.SaveDelivery(d)
	}
	return nil
}
