package delivery

import (
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// toPlace plans, in the channel's own place, a message that could not reach its
// person. Several such people get one message together: it has the key of the
// place, and the first process plans it.
func (l *openChannel) toPlace(tx *store.Tx, d *fermata.Delivery, o *outcome) {
	if !o.place {
		return
	}
	now := tx.Now()
	row := &fermata.Delivery{
		ID: fermata.NewID(fermata.PrefixDelivery, now), QuestionID: d.QuestionID, TaskID: d.TaskID, ChannelID: d.ChannelID, Kind: d.Kind,
		Purpose: d.Purpose, State: fermata.DeliveryWaiting, NextAt: &now, CreatedAt: now,
		DeliveryKeeps: fermata.DeliveryKeeps{
			Unique: strings.TrimSuffix(d.Unique, d.MemberID+"/"+d.DeviceID) + "/", When: fermata.WhenAlways, Title: d.Title, Body: d.Body, Wanted: d.Wanted,
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
