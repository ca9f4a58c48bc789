package delivery

import (
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// planForPlace plans a message to the channel's own place if the outcome asks
// for this, because the message could not reach its person. Several such people
// share one message: its unique key names no person, so only the first of these
// messages is stored.
func (ch *openChannel) planForPlace(tx *store.Tx, d *fermata.Delivery, o *outcome) {
	if o.kind != outcomeMoved {
		return
	}
	now := tx.Now()
	row := &fermata.Delivery{
		ID: fermata.NewID(fermata.PrefixDelivery, now), QuestionID: d.QuestionID, TaskID: d.TaskID, ChannelID: d.ChannelID, Kind: d.Kind,
		Purpose: d.Purpose, State: fermata.DeliveryWaiting, NextAt: &now, CreatedAt: now,
		DeliveryInternals: fermata.DeliveryInternals{
			UniqueKey: strings.TrimSuffix(d.UniqueKey, d.MemberID+"/"+d.DeviceID) + "/", Condition: fermata.WhenAlways, Title: d.Title, Body: d.Body, WantedEvent: d.WantedEvent,
		},
	}
	if d.QuestionID != "" {
		row.Title = d.Member
	}
	if d.Purpose == string(notice.Digest) {
		// A place has no digest of one person, so each question is posted there
		// separately.
		row.Purpose = string(notice.Asked)
	}
	tx.PlanDelivery(row)
}
