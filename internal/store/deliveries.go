package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata"
)

const deliveryColumns = `id, question_id, task_id, channel_id, kind, member_id, device_id, purpose, state, reason, condition, unique_key,
	next_at, leased_until, attempts, tries, deferrals, last_error, created_at, sent_at, updated_at, shows, event_seq, wanted, shown,
	decides, ref, title, body, history, version,
	COALESCE((SELECT name FROM channels c WHERE c.workspace_id = deliveries.workspace_id AND c.id = deliveries.channel_id), ''),
	COALESCE((SELECT handle FROM members m WHERE m.workspace_id = deliveries.workspace_id AND m.id = deliveries.member_id), '')`

func scanDelivery(rs rows) (*fermata.Delivery, error) { return scanDeliveryWith(rs) }

// scanDeliveryWith reads a delivery, and the further columns that the query
// returns.
func scanDeliveryWith(rs rows, more ...any) (*fermata.Delivery, error) {
	d := &fermata.Delivery{}
	var state, condition, shows, ref, history string
	var nextAt, leasedUntil, createdAt, sentAt, updatedAt, decides int64
	dest := []any{
		&d.ID, &d.QuestionID, &d.TaskID, &d.ChannelID, &d.Kind, &d.MemberID, &d.DeviceID, &d.Purpose, &state, &d.Reason, &condition,
		&d.UniqueKey, &nextAt, &leasedUntil, &d.Attempts, &d.FailedTries, &d.Deferrals, &d.LastError, &createdAt, &sentAt, &updatedAt, &shows,
		&d.EventSeq, &d.WantedEvent, &d.ShownEvent, &decides, &ref, &d.Title, &d.Body, &history, &d.Version, &d.Channel, &d.Member,
	}
	if err := rs.Scan(append(dest, more...)...); err != nil {
		return nil, err
	}
	d.State, d.Condition, d.ShownStatus = fermata.DeliveryState(state), fermata.RouteCondition(condition), fermata.QuestionStatus(shows)
	d.NextAt, d.LeasedUntil, d.CreatedAt = optionalInstant(nextAt), optionalInstant(leasedUntil), instantOf(createdAt)
	d.SentAt, d.UpdatedAt, d.CanDecide, d.Ref = optionalInstant(sentAt), optionalInstant(updatedAt), decides == 1, rawJSON(ref)
	return d, parseColumn("history", history, &d.History)
}

// PlanDelivery adds a delivery, unless one with the same unique key exists.
func (tx *Tx) PlanDelivery(d *fermata.Delivery) {
	d.Version = 1
	tx.execAny(`INSERT INTO deliveries (workspace_id, id, question_id, task_id, channel_id, kind, member_id, device_id, purpose, state,
		reason, condition, unique_key, next_at, created_at, event_seq, wanted, title, body, history)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
		ON CONFLICT (workspace_id, unique_key) DO NOTHING`,
		tx.workspace, d.ID, d.QuestionID, d.TaskID, d.ChannelID, d.Kind, d.MemberID, d.DeviceID, d.Purpose, string(d.State),
		d.Reason, string(d.Condition), d.UniqueKey, millis(d.NextAt), d.CreatedAt.UnixMilli(), d.EventSeq, d.WantedEvent, d.Title, d.Body, columnText(d.History))
}

// SaveDelivery writes the changed fields of a delivery. An empty content leaves the stored one, since most deliveries are
// read without it. The write fails if the delivery was changed since it was read. Changes after the call are not written.
func (tx *Tx) SaveDelivery(d *fermata.Delivery) {
	tx.markStale(d.ID)
	tx.exec(`UPDATE deliveries SET state = $1, reason = $2, condition = $3, next_at = $4, leased_until = $5, attempts = $6, tries = $7,
		deferrals = $8, last_error = $9, sent_at = $10, updated_at = $11, shows = $12, wanted = $13, shown = $14, decides = $15,
		ref = $16, history = $17, purpose = $18, content = coalesce(nullif($19, ''), content), version = version + 1
		WHERE workspace_id = $20 AND id = $21 AND version = $22`,
		string(d.State), d.Reason, string(d.Condition), millis(d.NextAt), millis(d.LeasedUntil), d.Attempts, d.FailedTries,
		d.Deferrals, d.LastError, millis(d.SentAt), millis(d.UpdatedAt), string(d.ShownStatus), d.WantedEvent, d.ShownEvent, boolColumn(d.CanDecide),
		string(d.Ref), columnText(d.History), d.Purpose, d.Content, tx.workspace, d.ID, d.Version)
	d.Version++
}

// Delivery returns the delivery with the id, with the content that was sent.
func (r Reader) Delivery(id string) (*fermata.Delivery, error) {
	return scanOne(r, "delivery", id, func(rs rows) (*fermata.Delivery, error) {
		var content string
		d, err := scanDeliveryWith(rs, &content)
		if err == nil {
			d.Content = content
		}
		return d, err
	}, "SELECT "+deliveryColumns+", content FROM deliveries WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// DeliveriesByID returns the deliveries with the ids, without their content.
func (r Reader) DeliveriesByID(ids []string) ([]*fermata.Delivery, error) {
	return listByID(r, scanDelivery, deliveryColumns, "deliveries", ids, deliveryID)
}

// DeliveriesOf lists the deliveries of the questions, without their content.
func (r Reader) DeliveriesOf(questionIDs []string) ([]*fermata.Delivery, error) {
	if len(questionIDs) == 0 {
		return nil, nil
	}
	// The expression on workspace_id keeps PostgreSQL from using the index of
	// the ids. That index gives the order, but PostgreSQL would read the whole
	// workspace through it.
	return list(r, scanDelivery, "SELECT "+deliveryColumns+" FROM deliveries WHERE workspace_id || '' = $1 AND question_id <> '' AND "+
		fmt.Sprintf(r.d.inList, "question_id", 2)+" ORDER BY id", r.workspace, columnText(questionIDs))
}

// DeliveryFilter narrows a list of deliveries.
type DeliveryFilter struct {
	QuestionID, ChannelID, State, MemberID string
	// Before is the id after which the list continues; the newest delivery
	// comes first.
	Before string
	Limit  int
}

// Deliveries lists deliveries, the newest first, without their content.
func (r Reader) Deliveries(f DeliveryFilter) ([]*fermata.Delivery, error) {
	w := r.newWhereClause()
	// A delivery of kind watch only checks whether any person was reached. It
	// is not a message, so it is not listed.
	w.conditions = append(w.conditions, "kind <> 'watch'")
	w.addVisibleRow(r.visible, "deliveries")
	if f.Before != "" {
		w.add("id < $%d", f.Before)
	}
	switch {
	case f.QuestionID != "":
		w.add("question_id = $%d AND question_id <> ''", f.QuestionID)
		w.addEqual("state", f.State)
		w.addEqual("member_id", f.MemberID)
		w.addEqual("channel_id", f.ChannelID)
	case f.State != "" && f.State != string(fermata.DeliverySent):
		// Most deliveries are sent, so their state has no index.
		w.add("state || '' = $%d AND state <> 'sent'", f.State)
		w.addEqual("member_id", f.MemberID)
		w.addEqual("channel_id", f.ChannelID)
	case f.MemberID != "":
		w.add("member_id || '' = $%d AND member_id <> ''", f.MemberID)
		w.addEqual("state", f.State)
		w.addEqual("channel_id", f.ChannelID)
	default:
		w.addEqual("state", f.State)
		w.addIndexed("channel_id", f.ChannelID)
	}
	w.args = append(w.args, f.Limit)
	return list(r, scanDelivery, "SELECT "+deliveryColumns+" FROM deliveries WHERE "+w.sql()+" ORDER BY id DESC LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
}

// WaitingDigest lists at most 100 due deliveries that wait for the digest of a
// member over a channel.
func (r Reader) WaitingDigest(channelID, memberID, deviceID string, now time.Time) ([]*fermata.Delivery, error) {
	return list(r, scanDelivery, "SELECT "+deliveryColumns+` FROM deliveries WHERE channel_id = $1 AND next_at > 0 AND next_at <= $2
		AND workspace_id = $3 AND member_id = $4 AND device_id = $5 AND purpose = 'digest' AND state = 'waiting' AND leased_until = 0
		ORDER BY id LIMIT 100`, channelID, now.UnixMilli(), r.workspace, memberID, deviceID)
}

// DueDeliveries lists the due deliveries of a channel by id, the longest
// overdue first.
func (db *DB) DueDeliveries(ctx context.Context, channelID string, now time.Time, limit int) ([]DueRow, error) {
	return list(db.Reader(ctx, ""), scanDue, `SELECT workspace_id, id FROM deliveries WHERE channel_id = $1 AND next_at > 0 AND next_at <= $2
		ORDER BY next_at LIMIT $3`, channelID, now.UnixMilli(), limit)
}

// NextDelivery returns the instant at which the next delivery of a channel is
// due, or false if none waits.
func (db *DB) NextDelivery(ctx context.Context, channelID string) (time.Time, bool, error) {
	found, err := list(db.Reader(ctx, ""), scanInt, "SELECT next_at FROM deliveries WHERE channel_id = $1 AND next_at > 0 ORDER BY next_at LIMIT 1", channelID)
	if err != nil || len(found) == 0 {
		return time.Time{}, false, err
	}
	return instantOf(found[0]), true, nil
}

// SkipDeliveriesOf skips the deliveries that wait to be sent over a channel.
// Messages that were sent stay, and are updated when the channel is used again.
func (tx *Tx) SkipDeliveriesOf(channelID, reason string) {
	tx.markStale(channelID)
	tx.execAny(`UPDATE deliveries SET state = CASE ref WHEN '' THEN 'skipped' ELSE 'sent' END,
		reason = CASE ref WHEN '' THEN $1 ELSE '' END, next_at = CASE ref WHEN '' THEN 0 ELSE next_at END, leased_until = 0, version = version + 1
		WHERE channel_id = $2 AND next_at > 0 AND workspace_id = $3 AND state IN ('waiting', 'failed')`, reason, channelID, tx.workspace)
}

// RetryDeliveriesOf makes deliveries that failed over a channel due at once.
// Call it when the channel works again.
func (tx *Tx) RetryDeliveriesOf(channelID string) {
	tx.markStale(channelID)
	now := tx.Now().UnixMilli()
	tx.execAny(`UPDATE deliveries SET next_at = $1, version = version + 1
		WHERE channel_id = $2 AND next_at > $1 AND workspace_id = $3 AND tries > 0 AND leased_until <= $1`, now, channelID, tx.workspace)
}

// EndDeliveriesOf ends all work on the deliveries of a channel that was
// removed.
func (tx *Tx) EndDeliveriesOf(channelID string) {
	tx.markStale(channelID)
	tx.execAny(`UPDATE deliveries SET next_at = 0, leased_until = 0, version = version + 1
		WHERE channel_id = $1 AND next_at > 0 AND workspace_id = $2`, channelID, tx.workspace)
}
