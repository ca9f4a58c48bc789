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

// deliver notes that a message arrived. A reminder that arrives is an event;
// what is shown of it later, when the question closes, is none.
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

// repeat plans the look at which people are reminded of the question after its list of
// reminders. It is one row, however long the question waits: each look plans the next.
func (b *batch) repeat(q *fermata.Question) {
	if at, ok := q.NextRepeat(q.CreatedAt); ok {
		b.lookAt(q, notice.Reminder, at, "repeat")
	}
}

// reminding returns what is needed to remind people at the instant: who they are, and
// where questions go, as it is now.
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

// remindAgain reminds those who may answer the question now, over the channels that it
// goes to now, and plans the next look.
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
