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
	// atOnce is the largest number of messages of a channel that are sent at
	// the same time.
	atOnce = 16
	// defaultSendLimit is how long sending one message may take
	// ([Options.SendLimit]).
	defaultSendLimit = 30 * time.Second
	// longestPause is the longest pause of a channel that asks for one. The
	// message that it refused waits as long as the channel asked.
	longestPause = 5 * time.Minute
	// sentNoted is how often a channel's row records that the channel works.
	sentNoted = 10 * time.Second
)

// send claims and sends the due deliveries of the channel until ctx ends.
func (l *openChannel) send(ctx context.Context) {
	done := make(chan struct{}, atOnce)
	defer l.finish(done)
	for {
		wait, err := l.round(ctx, done)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.w.s.Log.ErrorContext(ctx, "claim deliveries", "channel", l.info().Name, "error", err)
			wait = afterError
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-l.work:
		case <-done:
			l.freeSlot()
		case <-timer.C:
		}
		timer.Stop()
	}
}

// finish waits until the messages under way have ended.
func (l *openChannel) finish(done <-chan struct{}) {
	for {
		l.mu.Lock()
		busy := l.busy
		l.mu.Unlock()
		if busy == 0 {
			return
		}
		<-done
		l.freeSlot()
	}
}

func (l *openChannel) freeSlot() {
	l.mu.Lock()
	l.busy--
	l.mu.Unlock()
}

// round starts as many deliveries as there are free slots, and returns how long
// to wait before the next round.
func (l *openChannel) round(ctx context.Context, done chan<- struct{}) (time.Duration, error) {
	l.mu.Lock()
	free, pause := atOnce-l.busy, time.Until(l.paused)
	id := l.row.ID
	l.mu.Unlock()
	if pause > 0 {
		return pause, nil
	}
	if free == 0 {
		return lookAgain, nil
	}
	now, err := l.w.s.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	due, err := l.w.s.db.DueDeliveries(ctx, id, now, free)
	if err != nil {
		return 0, err
	}
	if len(due) == 0 {
		return l.untilNext(ctx, id, now)
	}
	claims, err := l.claim(ctx, due)
	if err != nil {
		return 0, err
	}
	for _, c := range claims {
		l.mu.Lock()
		l.busy++
		l.mu.Unlock()
		go func() {
			defer func() { done <- struct{}{} }()
			l.deliver(ctx, c)
		}()
	}
	return 0, nil
}

// untilNext returns how long there is nothing to send.
func (l *openChannel) untilNext(ctx context.Context, id string, now time.Time) (time.Duration, error) {
	next, found, err := l.w.s.db.NextDelivery(ctx, id)
	if err != nil || !found {
		return lookAgain, err
	}
	return min(max(next.Sub(now), time.Millisecond), lookAgain), nil
}

// deliver sends or updates a message, and records the outcome. A message under
// way is completed even when the service stops.
func (l *openChannel) deliver(ctx context.Context, c *claim) {
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.w.s.SendLimit)
	defer cancel()
	release := l.hold(sending, c)
	o := l.attempt(sending, c)
	release()
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.w.s.SendLimit)
	defer cancel()
	if err := l.record(recording, c, o); err != nil {
		// When the lease ends, the delivery is due again.
		l.w.s.Log.ErrorContext(ctx, "record a delivery", "delivery", c.ID, "error", err)
	}
	l.w.s.Observe(c.Kind, o.name(c.State), c.late)
}

// outcome is the result of an attempt.
type outcome struct {
	// skip is the reason to end the delivery. until is the instant to which the
	// delivery is deferred, for the reason in reason.
	skip string
	// place reports whether the message goes to the channel's own place
	// instead.
	place bool
	// rest reports whether there is nothing to do.
	rest   bool
	until  time.Time
	reason string
	// sent reports whether the channel took the message. The message shows the
	// status shows, as of the event shown.
	sent    bool
	receipt notice.Receipt
	shows   fermata.QuestionStatus
	shown   int64
	decides bool
	err     error
	// unsure reports whether the message may have arrived although the attempt
	// failed.
	unsure bool
}

func (o *outcome) name(before fermata.DeliveryState) string {
	switch {
	case o.skip != "" || o.rest:
		return "skipped"
	case !o.until.IsZero():
		return "deferred"
	case o.err != nil:
		return "failed"
	case before == fermata.DeliverySent:
		return "updated"
	default:
		return "sent"
	}
}

// attempt checks whether the message is still needed, and sends it.
func (l *openChannel) attempt(ctx context.Context, c *claim) *outcome {
	if l.opened != nil {
		return &outcome{err: l.opened}
	}
	if c.State == fermata.DeliverySent && (len(c.Ref) == 0 || c.Purpose == string(notice.Digest)) {
		// A message that cannot be changed stays as it is. So does a digest: it
		// lists the questions that waited when it was sent, and offers no
		// decision.
		return &outcome{rest: true}
	}
	n, o, err := l.compose(ctx, c)
	if err != nil {
		return &outcome{err: err}
	}
	if n == nil {
		return o
	}
	if c.State == fermata.DeliverySent {
		o.receipt, o.err = l.channel.Update(ctx, n, notice.Receipt{Ref: c.Ref})
	} else {
		n.Replaces = c.Ref
		o.receipt, o.err = l.channel.Send(ctx, n)
	}
	if unknown(o.err) && l.kind.To == ToPeopleOrPlace && n.Purpose != notice.Test {
		return &outcome{skip: fermata.SkippedNoAddress, place: true}
	}
	f := failureOf(o.err)
	if f.Absent {
		return &outcome{skip: fermata.SkippedClosed}
	}
	o.sent, o.unsure = o.err == nil, f.Unsure
	return o
}

// record writes the outcome of an attempt, unless another process has claimed
// the delivery meanwhile.
func (l *openChannel) record(ctx context.Context, c *claim, o *outcome) error {
	var told *fermata.Delivery
	var noted *fermata.Channel
	err := l.w.s.db.Write(ctx, l.w.id, func(tx *store.Tx) error {
		told, noted = nil, nil
		rows, err := tx.DeliveriesByID([]string{c.ID})
		if err != nil || len(rows) == 0 {
			return err
		}
		d := rows[0]
		if !c.holds(d) {
			return nil
		}
		l.apply(tx, d, o)
		tx.SaveDelivery(d)
		told = d
		if err := l.recordRest(tx, c, d, o); err != nil {
			return err
		}
		noted, err = l.recordChannel(tx, d, o)
		return err
	})
	if err != nil {
		return err
	}
	l.applyToSender(told, o)
	l.note(noted)
	return nil
}

// applyToSender wakes or pauses the sender after an outcome was recorded.
func (l *openChannel) applyToSender(d *fermata.Delivery, o *outcome) {
	if d != nil && (d.NextAt != nil || o.place) {
		l.wake()
	}
	// If each question names an address of its own, a pause of one address must
	// not stop the others.
	if wait := retryAfter(o.err); wait > 0 && l.kind.To != ToAsker {
		l.mu.Lock()
		l.paused = time.Now().Add(min(wait, longestPause))
		l.mu.Unlock()
	}
}

// apply changes the delivery according to the outcome of the attempt.
func (l *openChannel) apply(tx *store.Tx, d *fermata.Delivery, o *outcome) {
	now := tx.Now()
	switch {
	case o.rest:
		d.Rest()
	case o.skip != "":
		d.Skip(now, o.skip)
		l.toPlace(tx, d, o)
	case !o.until.IsZero():
		d.Defer(now, o.until, o.reason)
	case o.sent:
		deliver(tx, d, o.receipt.Ref, o.shows, o.shown)
		d.Decides = o.decides
		if o.receipt.Content != "" {
			tx.SetContent(d.ID, cut(d.WithoutBearers(o.receipt.Content)))
		}
		if d.DeviceID != "" {
			tx.TouchDevice(d.DeviceID, now)
		}
	case isGone(o.err) && d.DeviceID != "":
		tx.DeleteDevice(d.DeviceID)
		d.Fail(now, o.err.Error(), true, 0)
		tx.Append(&fermata.Event{
			Type: fermata.EventDeviceRemoved, Actor: fermata.System, Data: data(map[string]any{"device_id": d.DeviceID, "member_id": d.MemberID, "reason": "unsubscribed"}),
		})
	default:
		d.Fail(now, words(o.err), isPermanent(o.err), retryAfter(o.err))
		if o.unsure {
			d.Doubt(now)
		}
	}
	if d.State == fermata.DeliveryDead && (d.Purpose != string(notice.Event) || l.kind.To == ToAsker) {
		tx.Append(&fermata.Event{
			Type: fermata.EventDeliveryDead, TaskID: d.TaskID, QuestionID: d.QuestionID, Actor: fermata.System,
			Data: data(map[string]any{"delivery_id": d.ID, "channel": d.Channel, "kind": d.Kind, "member_id": d.MemberID, "error": d.LastError}),
		})
	}
}

// recordRest writes the outcome of the other deliveries of a digest. They are
// sent if the digest was sent, and skipped if it was not needed.
func (l *openChannel) recordRest(tx *store.Tx, c *claim, first *fermata.Delivery, o *outcome) error {
	rows, err := tx.DeliveriesByID(idsOf(c.with))
	if err != nil {
		return err
	}
	for _, d := range rows {
		switch first.State {
		case fermata.DeliverySent:
			deliver(tx, d, nil, fermata.Pending, first.Shown)
			d.Reason = "digest " + first.ID
		case fermata.DeliverySkipped:
			d.Skip(tx.Now(), first.Reason)
			l.toPlace(tx, d, o)
		default:
			// The others wait for the digest together with the first one.
			d.LeasedUntil, d.NextAt = nil, first.NextAt
		}
		tx.SaveDelivery(d)
	}
	return nil
}

// note takes over the fields that were written to the channel's row, if there
// is a row.
func (l *openChannel) note(row *fermata.Channel) {
	if row == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.row.LastSentAt, l.row.LastError = row.LastSentAt, row.LastError
}

// tellsOfChannel reports whether an attempt shows whether the channel itself
// works.
func (l *openChannel) tellsOfChannel(d *fermata.Delivery, o *outcome) bool {
	if o.err != nil {
		return l.kind.To != ToAsker && !unknown(o.err) && (!isGone(o.err) || d.DeviceID == "")
	}
	return o.sent
}

// recordChannel records in the channel's row whether the channel works. It
// returns the row, or nil if there was nothing to write.
func (l *openChannel) recordChannel(tx *store.Tx, d *fermata.Delivery, o *outcome) (*fermata.Channel, error) {
	if o.rest || !l.tellsOfChannel(d, o) {
		return nil, nil
	}
	works, known := o.err == nil, l.info()
	if works && known.LastError == "" && known.LastSentAt != nil && tx.Now().Sub(*known.LastSentAt) < sentNoted {
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
		row.NoteFailure(tx.Now(), d.WithoutBearers(words(o.err)))
	}
	if isGone(o.err) && row.Enabled {
		row.Enabled = false
		tx.SkipDeliveriesOf(row.ID, fermata.SkippedDisabled)
		tx.Append(&fermata.Event{Type: fermata.EventChannelChanged, Actor: fermata.System, Data: data(facts(row))})
	}
	if row.NeedsAlert(tx.Now()) {
		now := tx.Now()
		row.AlertedAt = &now
		alertChannel(tx, row)
	}
	tx.SaveChannel(row)
	return row, nil
}

// mostContent is the largest stored content of a message, in bytes.
const mostContent = 256 << 10

// cut shortens the content without splitting a character: PostgreSQL does not
// accept half a character.
func cut(content string) string {
	if len(content) <= mostContent {
		return content
	}
	return strings.ToValidUTF8(content[:mostContent], "")
}
