package delivery

import (
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// toPlace plans in the channel's own place what could not reach its person
// there. For several such people that is one message: it is planned under the
// key that the place has, by whichever process comes first.
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
		// A place has no digest of one person: each question is told there itself.
		row.Purpose = string(notice.Asked)
	}
	tx.PlanDelivery(row)
}
