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

// deliver records that a message arrived. The first arrival of a reminder also adds an event; an update when the
// question closes does not.
func deliver(tx *store.Tx, d *fermata.Delivery, ref json.RawMessage, shows fermata.QuestionStatus, shown int64) {
	first := d.State != fermata.DeliverySent
	d.Deliver(tx.Now(), ref, shows, shown)
	if !first || d.Purpose != string(notice.Reminder) {
		return
	}
	facts := map[string]any{"delivery_id": d.ID, "channel": d.Channel, "kind": d.Kind}
	if d.MemberID != "" {
		facts["member_id"] = d.MemberID
	}
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionReminded, TaskID: d.TaskID, QuestionID: d.QuestionID, Actor: fermata.System, Data: data(facts),
	})
}

// repeat plans the check that sends the reminders after the question's list of reminders. There is only one such row,
// however long the question waits, because each check plans the next one.
func (b *batch) repeat(q *fermata.Question) {
	if at, ok := q.NextRepeat(q.CreatedAt); ok {
		b.lookAt(q, notice.Reminder, at, "repeat")
	}
}

// reminding returns a batch with the current people, channels and routes, for reminders at the instant.
func (w *workspace) reminding(ctx context.Context, now time.Time) (*batch, error) {
	r := w.s.db.In(ctx, w.id)
	plan, err := r.Plan()
	if err != nil {
		return nil, err
	}
	people, err := w.loadPeople(ctx)
	if err != nil {
		return nil, err
	}
	b := &batch{w: w, channels: w.usableChannels(), people: people, plan: plan, now: now, wishes: map[string]fermata.Preferences{}}
	if len(people.members) > 0 {
		b.wishes, err = r.Preferences(people.ids())
	}
	return b, err
}

// remindAgain reminds the people who may answer the question at the moment, over its current channels, and plans the
// next check.
func (b *batch) remindAgain(tx *store.Tx, look *fermata.Delivery) error {
	q, err := tx.Question(look.QuestionID)
	if err != nil {
		return err
	}
	next, ok := q.NextRepeat(tx.Now())
	if q.Status != fermata.Pending || !ok {
		look.Skip(tx.Now(), fermata.SkippedClosed)
		tx.SaveDelivery(look)
		return nil
	}
	head, err := tx.Head()
	if err != nil {
		return err
	}
	b.rows, b.head = nil, head.Seq
	members := b.people.mayAnswer(q)
	for _, s := range b.steps(q.Channels, b.plan.Routes.ForType(q.Type)) {
		b.toAll(q, s, members, notice.Reminder, tx.Now(), fmt.Sprintf("repeat%d", look.NextAt.Unix()))
	}
	for _, d := range b.rows {
		tx.PlanDelivery(d)
	}
	look.NextAt = &next
	tx.SaveDelivery(look)
	return nil
}
