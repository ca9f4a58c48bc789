package delivery

import (
	"encoding/json"

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
