package delivery

import (
	"context"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// maxConcurrentSends is the largest number of messages of a channel that are sent at
	// the same time.
	maxConcurrentSends = 16
	// defaultSendLimit is how long sending one message may take
	// ([Options.SendLimit]).
	defaultSendLimit = 30 * time.Second
	// maxBackoff is the longest pause of a channel that asks for one. The
	// message that it refused waits as long as the channel asked.
	maxBackoff = 5 * time.Minute
	// sentRecordInterval is the shortest time between two records in a channel's row that the channel works.
	sentRecordInterval = 10 * time.Second
)

// send claims and sends the due deliveries of the channel until ctx ends.
func (ch *openChannel) send(ctx context.Context) {
	done := make(chan struct{}, maxConcurrentSends)
	defer ch.awaitSends(done)
	for {
		wait, err := ch.startDue(ctx, done)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			ch.w.s.Log.ErrorContext(ctx, "claim deliveries", "channel", ch.info().Name, "error", err)
			wait = errorRetryDelay
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-ch.wakeup:
		case <-done:
			ch.freeSlot()
		case <-timer.C:
		}
		timer.Stop()
	}
}

// awaitSends waits until the messages under way have ended.
func (ch *openChannel) awaitSends(done <-chan struct{}) {
	for {
		ch.mu.Lock()
		inFlight := ch.inFlight
		ch.mu.Unlock()
		if inFlight == 0 {
			return
		}
		<-done
		ch.freeSlot()
	}
}

func (ch *openChannel) freeSlot() {
	ch.mu.Lock()
	ch.inFlight--
	ch.mu.Unlock()
}

// startDue starts as many deliveries as there are free slots, and returns how long
// to wait before the next round.
func (ch *openChannel) startDue(ctx context.Context, done chan<- struct{}) (time.Duration, error) {
	ch.mu.Lock()
	free, pause := maxConcurrentSends-ch.inFlight, time.Until(ch.backoffUntil)
	id := ch.row.ID
	ch.mu.Unlock()
	if pause > 0 {
		return pause, nil
	}
	if free == 0 {
		return rescanInterval, nil
	}
	now, err := ch.w.s.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	due, err := ch.w.s.db.DueDeliveries(ctx, id, now, free)
	if err != nil {
		return 0, err
	}
	if len(due) == 0 {
		return ch.timeToNext(ctx, id, now)
	}
	claims, err := ch.claim(ctx, due)
	if err != nil {
		return 0, err
	}
	for _, c := range claims {
		ch.mu.Lock()
		ch.inFlight++
		ch.mu.Unlock()
		go func() {
			defer func() { done <- struct{}{} }()
			ch.deliver(ctx, c)
		}()
	}
	return 0, nil
}

// timeToNext returns how long to wait until the next delivery is due, at most rescanInterval.
func (ch *openChannel) timeToNext(ctx context.Context, id string, now time.Time) (time.Duration, error) {
	next, found, err := ch.w.s.db.NextDelivery(ctx, id)
	if err != nil || !found {
		return rescanInterval, err
	}
	return min(max(next.Sub(now), time.Millisecond), rescanInterval), nil
}

// deliver sends or updates a message, and records the outcome. A message under
// way is completed even when the service stops.
func (ch *openChannel) deliver(ctx context.Context, c *claim) {
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ch.w.s.SendLimit)
	defer cancel()
	release := ch.keepLease(sendCtx, c)
	o := ch.attempt(sendCtx, c)
	release()
	recordCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ch.w.s.SendLimit)
	defer cancel()
	if err := ch.recordOutcome(recordCtx, c, o); err != nil {
		// When the lease ends, the delivery is due again.
		ch.w.s.Log.ErrorContext(ctx, "record a delivery", "delivery", c.ID, "error", err)
	}
	ch.w.s.Observe(c.Kind, o.name(c.State), c.lateness)
}

// attempt checks whether the message is still needed, and sends it.
func (ch *openChannel) attempt(ctx context.Context, c *claim) *outcome {
	if ch.openErr != nil {
		return failedOutcome(ch.openErr)
	}
	if c.State == fermata.DeliverySent && (len(c.Ref) == 0 || c.Purpose == string(notice.Digest)) {
		// A message that cannot be changed stays as it is. So does a digest: it
		// lists the questions that waited when it was sent, and offers no
		// decision.
		return &outcome{kind: outcomeUnchanged}
	}
	n, shown, end, err := ch.compose(ctx, c)
	switch {
	case err != nil:
		return failedOutcome(err)
	case end != nil:
		return end
	}
	var message notice.SentMessage
	if c.State == fermata.DeliverySent {
		message, err = ch.channel.Update(ctx, n, notice.SentMessage{Ref: c.Ref})
	} else {
		n.Replaces = c.Ref
		message, err = ch.channel.Send(ctx, n)
	}
	switch f := failureOf(err); {
	case err == nil:
		return &outcome{kind: outcomeSent, message: message, shown: shown}
	case isUnknownRecipient(err) && ch.kind.Audience == ToPeopleOrPlace && n.Purpose != notice.Test:
		return &outcome{kind: outcomeMoved, reason: fermata.SkippedNoAddress}
	case f.NeverArrived:
		return skippedOutcome(fermata.SkippedClosed)
	default:
		return &outcome{kind: outcomeFailed, err: err, mayHaveArrived: f.MayHaveArrived}
	}
}

// recordOutcome writes the outcome of an attempt, unless another process has claimed
// the delivery meanwhile.
func (ch *openChannel) recordOutcome(ctx context.Context, c *claim, o *outcome) error {
	var recorded *fermata.Delivery
	var channelRow *fermata.Channel
	err := ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		recorded, channelRow = nil, nil
		rows, err := tx.DeliveriesByID([]string{c.ID})
		if err != nil || len(rows) == 0 {
			return err
		}
		d := rows[0]
		if !c.isHolderOf(d) {
			return nil
		}
		ch.applyOutcome(tx, d, o)
		tx.SaveDelivery(d)
		recorded = d
		if err := ch.recordDigestOthers(tx, c, d, o); err != nil {
			return err
		}
		channelRow, err = ch.recordChannel(tx, d, o)
		return err
	}, store.ReadAhead{Deliveries: append(idsOf(c.digestOthers), c.ID)})
	if err != nil {
		return err
	}
	ch.applyToSender(recorded, o)
	ch.updateStatus(channelRow)
	return nil
}

// applyToSender wakes or pauses the sender after an outcome was recorded.
func (ch *openChannel) applyToSender(d *fermata.Delivery, o *outcome) {
	if d != nil && (d.NextAt != nil || o.kind == outcomeMoved) {
		ch.wake()
	}
	// If each question names an address of its own, a pause of one address must
	// not stop the others.
	if wait := retryAfter(o.err); wait > 0 && ch.kind.Audience != ToAsker {
		ch.mu.Lock()
		ch.backoffUntil = time.Now().Add(min(wait, maxBackoff))
		ch.mu.Unlock()
	}
}

// applyOutcome changes the delivery according to the outcome of the attempt.
func (ch *openChannel) applyOutcome(tx *store.Tx, d *fermata.Delivery, o *outcome) {
	now := tx.Now()
	switch {
	case o.kind == outcomeUnchanged:
		d.EndLease()
	case o.kind == outcomeSkipped, o.kind == outcomeMoved:
		d.Skip(now, o.reason)
		ch.planForPlace(tx, d, o)
	case o.kind == outcomeDeferred:
		d.Defer(now, o.until, o.reason)
	case o.kind == outcomeSent:
		recordDelivered(tx, d, o.message.Ref, o.shown.status, o.shown.seq)
		d.CanDecide = o.shown.offersDecision
		d.Content = truncateContent(d.RemoveSecrets(o.message.Content))
		if d.DeviceID != "" {
			tx.TouchDevice(d.DeviceID, now)
		}
	case isGone(o.err) && d.DeviceID != "":
		tx.DeleteDevice(d.DeviceID)
		d.NoteFailure(now, o.err.Error(), true, 0)
		tx.Append(&fermata.Event{
			Type: fermata.EventDeviceRemoved, Actor: fermata.SystemActor, Data: mustJSON(map[string]any{"device_id": d.DeviceID, "member_id": d.MemberID, "reason": "unsubscribed"}),
		})
	default:
		d.NoteFailure(now, errorText(o.err), isPermanent(o.err), retryAfter(o.err))
		if o.mayHaveArrived {
			d.NoteMaybeSent(now)
		}
	}
	if d.State == fermata.DeliveryDead && (d.Purpose != string(notice.Event) || ch.kind.Audience == ToAsker) {
		tx.Append(&fermata.Event{
			Type: fermata.EventDeliveryDead, TaskID: d.TaskID, QuestionID: d.QuestionID, Actor: fermata.SystemActor,
			Data: mustJSON(map[string]any{"delivery_id": d.ID, "channel": d.Channel, "kind": d.Kind, "member_id": d.MemberID, "error": d.LastError}),
		})
	}
}

// recordDigestOthers writes the outcome of the other deliveries of a digest. They are
// sent if the digest was sent, and skipped if it was not needed.
func (ch *openChannel) recordDigestOthers(tx *store.Tx, c *claim, first *fermata.Delivery, o *outcome) error {
	rows, err := tx.DeliveriesByID(idsOf(c.digestOthers))
	if err != nil {
		return err
	}
	for _, d := range rows {
		switch first.State {
		case fermata.DeliverySent:
			recordDelivered(tx, d, nil, fermata.Pending, first.ShownEvent)
			d.Reason = "digest " + first.ID
		case fermata.DeliverySkipped:
			d.Skip(tx.Now(), first.Reason)
			ch.planForPlace(tx, d, o)
		default:
			// The others wait for the digest together with the first one.
			d.LeasedUntil, d.NextAt = nil, first.NextAt
		}
		tx.SaveDelivery(d)
	}
	return nil
}

// updateStatus copies the time of the last message and the last error from the written row to the open channel. It does
// nothing if row is nil.
func (ch *openChannel) updateStatus(row *fermata.Channel) {
	if row == nil {
		return
	}
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.row.LastSentAt, ch.row.LastError = row.LastSentAt, row.LastError
}

// isAboutChannel reports whether an attempt shows whether the channel itself
// works.
func (ch *openChannel) isAboutChannel(d *fermata.Delivery, o *outcome) bool {
	if o.err != nil {
		return ch.kind.Audience != ToAsker && !isUnknownRecipient(o.err) && (!isGone(o.err) || d.DeviceID == "")
	}
	return o.kind == outcomeSent
}

// recordChannel records in the channel's row whether the channel works. It
// returns the row, or nil if there was nothing to write.
func (ch *openChannel) recordChannel(tx *store.Tx, d *fermata.Delivery, o *outcome) (*fermata.Channel, error) {
	if !ch.isAboutChannel(d, o) {
		return nil, nil
	}
	works, known := o.err == nil, ch.info()
	if works && known.LastError == "" && known.LastSentAt != nil && tx.Now().Sub(*known.LastSentAt) < sentRecordInterval {
		return nil, nil
	}
	row, err := tx.Channel(d.ChannelID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if works {
		row.NoteSent(tx.Now())
	} else {
		row.NoteFailure(tx.Now(), d.RemoveSecrets(errorText(o.err)))
	}
	if isGone(o.err) && row.Enabled {
		row.Enabled = false
		tx.SkipDeliveriesOf(row.ID, fermata.SkippedDisabled)
		tx.Append(&fermata.Event{Type: fermata.EventChannelChanged, Actor: fermata.SystemActor, Data: mustJSON(channelEventData(row))})
	}
	if row.NeedsAlert(tx.Now()) {
		now := tx.Now()
		row.AlertedAt = &now
		alertChannel(tx, row)
	}
	tx.SaveChannel(row)
	return row, nil
}

// maxContentSize is the largest stored content of a message, in bytes.
const maxContentSize = 256 << 10

// truncateContent shortens the content without splitting a character: PostgreSQL does not
// accept half a character.
func truncateContent(content string) string {
	if len(content) <= maxContentSize {
		return content
	}
	return strings.ToValidUTF8(content[:maxContentSize], "")
}
