package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// batch is a number of events and what is to be planned for them.
type batch struct {
	w        *workspace
	channels []*openChannel
	people   *people
	// plan is what was read of the cursor, the routes and earlier subscriptions.
	plan   store.Plan
	events []*fermata.Event
	// head is the number up to which the batch plans.
	head int64
	now  time.Time

	questions map[string]*fermata.Question
	wishes    map[string]fermata.Preferences
	// rows are the deliveries to add; wants says which messages must show what.
	rows  []*fermata.Delivery
	wants map[string]int64
	// told says of questions why nobody is told of them now; empty where somebody
	// is. alarms are those of which operators hear at once.
	told   map[string]string
	alarms []*fermata.Question
	// stale says that the channels or the routes had changed, and nothing was written.
	stale bool
}

// read reads the events and what they are about.
func (b *batch) read(ctx context.Context, r store.Reader, after int64) error {
	var subscribed []string
	for _, l := range b.channels {
		subscribed = append(subscribed, l.subscriptions()...)
	}
	for _, s := range b.plan.Earlier {
		subscribed = append(subscribed, s.Types...)
	}
	var err error
	if b.events, err = r.Events(store.EventFilter{After: after, Before: b.head + 1, Types: plannedTypes(subscribed), Limit: planBatch}); err != nil {
		return err
	}
	if len(b.events) == planBatch {
		b.head = b.events[planBatch-1].Seq
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

// loadSubjects reads the questions and the tasks of the events.
func (b *batch) loadSubjects(r store.Reader) error {
	var questionIDs []string
	for _, e := range b.events {
		if e.QuestionID != "" && slices.Contains(plannedOf, e.Type) {
			questionIDs = append(questionIDs, e.QuestionID)
		}
	}
	questions, err := r.QuestionsByID(fermata.Distinct(questionIDs))
	if err != nil {
		return err
	}
	b.questions = map[string]*fermata.Question{}
	for _, q := range questions {
		b.questions[q.ID] = q
	}
	b.wishes = map[string]fermata.Preferences{}
	if len(b.people.members) == 0 {
		return nil
	}
	b.wishes, err = r.Preferences(b.people.ids())
	return err
}

// sleptThrough reports whether a question timed out while a message about it
// waited for the end of quiet hours: the person is told then.
func sleptThrough(d *fermata.Delivery, q *fermata.Question) bool {
	return d.Reason == fermata.WaitsForQuiet && q.Status == fermata.TimedOut
}

// note keeps why nobody is told of a question, where that is other than it was.
func (b *batch) note(q *fermata.Question, why string) {
	if q.Unreached != why {
		b.told[q.ID], q.Unreached = why, why
	}
}

// idle reports whether nothing is to be written for the events: progress that
// nobody has switched on is like everything else that nobody hears of.
func (b *batch) idle() bool {
	planned := func(e *fermata.Event) bool { return e.Type != fermata.EventProgressReported }
	return len(b.rows) == 0 && !hearProgress(b.wishes) && !slices.ContainsFunc(b.events, planned)
}

// planEvents finds out what to send for every event.
func (b *batch) planEvents() {
	for _, e := range b.events {
		b.planForSubscribers(e)
		q := b.questions[e.QuestionID]
		switch e.Type {
		case fermata.EventQuestionAsked:
			if q != nil && q.Status == fermata.Pending {
				b.asked(q, e)
			}
		case fermata.EventQuestionEscalated:
			if q != nil && q.Status == fermata.Pending {
				b.escalated(q, e)
			}
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventQuestionAssigned:
			if q != nil && q.Status == fermata.Pending {
				b.assigned(q, e)
			}
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
			b.callBack(q, e)
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventQuestionExtended, fermata.EventQuestionVoteCast, fermata.EventQuestionAnsweredLate:
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventDeliveryAlert:
			b.alert(e)
		case fermata.EventProgressReported:
			b.progress(e)
		default:
		}
	}
}

// write adds the rows, and has messages brought up to date.
func (b *batch) write(tx *store.Tx) error {
	for _, d := range b.rows {
		tx.PlanDelivery(d)
	}
	for id, why := range b.told {
		tx.SetUnreached(b.questions[id], why)
	}
	for _, q := range b.alarms {
		alertUndelivered(tx, q, b.told[q.ID])
	}
	ids := make([]string, 0, len(b.wants))
	for id := range b.wants {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	rows, err := tx.DeliveriesOf(ids)
	if err != nil {
		return err
	}
	for _, d := range rows {
		q := b.questions[d.QuestionID]
		if d.Wanted >= b.wants[d.QuestionID] && d.Shown >= b.wants[d.QuestionID] {
			continue
		}
		d.Want(b.wants[d.QuestionID], q == nil || q.Status != fermata.Pending && !sleptThrough(d, q), tx.Now())
		tx.SaveDelivery(d)
	}
	return nil
}
