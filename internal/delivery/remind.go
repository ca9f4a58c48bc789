package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// recordDelivered records that a message arrived. The first arrival of a reminder also adds an event; an update when the
// question closes does not.
func recordDelivered(tx *store.Tx, d *fermata.Delivery, ref json.RawMessage, shownStatus fermata.QuestionStatus, shownSeq int64) {
	first := d.State != fermata.DeliverySent
	d.NoteSent(tx.Now(), ref, shownStatus, shownSeq)
	if !first || d.Purpose != string(notice.Reminder) {
		return
	}
	facts := map[string]any{"delivery_id": d.ID, "channel": d.Channel, "kind": d.Kind}
	if d.MemberID != "" {
		facts["member_id"] = d.MemberID
	}
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionReminded, TaskID: d.TaskID, QuestionID: d.QuestionID, Actor: fermata.SystemActor, Data: mustJSON(facts),
	})
}

// planReminderCheck plans the check that sends the repeated reminders, which follow the question's own list of
// reminders. There is only one such row, however long the question waits, because each check plans the next one.
func (b *batch) planReminderCheck(q *fermata.Question) {
	if at, ok := q.NextRepeatedReminder(q.CreatedAt); ok {
		b.planCheck(q, notice.Reminder, at, "repeat")
	}
}

// newReminderBatch returns a batch with the current people, channels and routes, for reminders at the instant.
func (w *workspace) newReminderBatch(ctx context.Context, now time.Time) (*batch, error) {
	r := w.s.db.Reader(ctx, w.id)
	plan, err := r.Plan()
	if err != nil {
		return nil, err
	}
	people, err := w.loadPeople(ctx)
	if err != nil {
		return nil, err
	}
	b := &batch{w: w, channels: w.sortedChannels(), people: people, plan: plan, now: now, preferences: map[string]fermata.Preferences{}}
	if len(people.members) > 0 {
		b.preferences, err = r.Preferences(people.ids())
	}
	return b, err
}

// remindAgain reminds the people who may answer the question at the moment, over its current channels, and plans the
// next check.
func (b *batch) remindAgain(tx *store.Tx, check *fermata.Delivery) error {
	q, err := tx.Question(check.QuestionID)
	if err != nil {
		return err
	}
	next, ok := q.NextRepeatedReminder(tx.Now())
	if q.Status != fermata.Pending || !ok {
		check.Skip(tx.Now(), fermata.SkippedClosed)
		tx.SaveDelivery(check)
		return nil
	}
	head, err := tx.Head()
	if err != nil {
		return err
	}
	b.rows, b.head = nil, head.Seq
	members := b.people.eligibleMembers(q)
	for _, s := range b.resolveSteps(q.Channels, b.plan.Routes.ForType(q.Type)) {
		b.planMessages(q, s, members, notice.Reminder, tx.Now(), fmt.Sprintf("repeat%d", check.NextAt.Unix()))
	}
	for _, d := range b.rows {
		tx.PlanDelivery(d)
	}
	check.NextAt = &next
	tx.SaveDelivery(check)
	return nil
}
