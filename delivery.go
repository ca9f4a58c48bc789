package fermata

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"
)

// DeliveryState is the progress of one message.
type DeliveryState string

// States of a delivery.
const (
	// DeliveryWaiting means that the message is not sent yet; next_at says when it will be.
	DeliveryWaiting DeliveryState = "waiting"
	// DeliverySent means that the channel accepted the message. Fermata keeps the message up to date.
	DeliverySent DeliveryState = "sent"
	// DeliveryFailed means that the last attempt failed. The next attempt is at next_at.
	DeliveryFailed DeliveryState = "failed"
	// DeliveryDead means that Fermata gave the message up. A person can send it
	// again by hand.
	DeliveryDead DeliveryState = "dead"
	// DeliverySkipped means that the message was not needed or not wanted; reason says why.
	DeliverySkipped DeliveryState = "skipped"
)

// DeliveryStates lists every state of a delivery.
var DeliveryStates = []DeliveryState{DeliveryWaiting, DeliverySent, DeliveryFailed, DeliveryDead, DeliverySkipped}

// Reasons why a delivery waits or was skipped.
const (
	SkippedClosed      = "closed"
	SkippedNotEligible = "not_eligible"
	SkippedPreferences = "preferences"
	SkippedNoAddress   = "no_address"
	SkippedChannelGone = "channel_removed"
	SkippedDisabled    = "channel_disabled"
	SkippedDeviceGone  = "device_removed"
	SkippedNotNeeded   = "not_needed"

	WaitsForPage   = "page_open"
	WaitsForQuiet  = "quiet_hours"
	WaitsForDigest = "digest"
)

// Delivery is one message to one recipient. Fermata keeps the message up to date after it was sent.
type Delivery struct {
	ID         string `json:"id"`
	QuestionID string `json:"question_id,omitempty"`
	TaskID     string `json:"task_id,omitempty"`
	ChannelID  string `json:"channel_id"`
	// Channel is the current name of the channel.
	Channel  string        `json:"channel" doc:"the channel's name"`
	Kind     string        `json:"kind"`
	MemberID string        `json:"member_id,omitempty" doc:"absent where the message went to a place of the channel's own"`
	Member   string        `json:"member,omitempty" doc:"the member's handle"`
	Purpose  string        `json:"purpose" enum:"asked,reminder,escalated,digest,alert,event,test"`
	State    DeliveryState `json:"state" enum:"waiting,sent,failed,dead,skipped"`
	Reason   string        `json:"reason,omitempty" doc:"why it waits or was skipped"`
	// NextAt is the instant of the next step: to send, to retry or to update.
	NextAt      *time.Time      `json:"next_at,omitempty"`
	Attempts    int             `json:"attempts"`
	LastError   string          `json:"last_error,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	SentAt      *time.Time      `json:"sent_at,omitempty"`
	UpdatedAt   *time.Time      `json:"updated_at,omitempty" doc:"when the message was last brought up to date"`
	ShownStatus QuestionStatus  `json:"shows,omitempty" doc:"the status of the question that the message shows"`
	Content     string          `json:"content,omitempty" doc:"what was sent, without what decides; absent for callers who may not read it"`
	History     []DeliveryEntry `json:"history,omitempty"`

	DeliveryInternals `json:"-"`
}

// DeliveryInternals holds the internal state of a delivery.
type DeliveryInternals struct {
	// UniqueKey names the purpose of the delivery, so that the same message is
	// planned only once.
	UniqueKey string
	Condition RouteCondition
	DeviceID  string
	// EventSeq is the number of the event that an [Event] message reports. It
	// is 0 for other messages.
	EventSeq int64
	// Title and Body are the text of alerts.
	Title, Body string
	// Ref is the channel's own reference, by which it finds the message again.
	Ref json.RawMessage
	// CanDecide reports whether the message let its reader decide the question.
	CanDecide bool
	// WantedEvent is the number of the last event that the message must show.
	// ShownEvent is the number of the last event that it shows.
	WantedEvent, ShownEvent int64
	// LeasedUntil is the end of the lease of the process that sends the message.
	LeasedUntil *time.Time
	// FailedTries counts the failures since the last success.
	FailedTries int
	// Deferrals counts how often the delivery was put off for the same reason.
	Deferrals int
	// Version counts the saves.
	Version int64
}

// DeliveryEntry is one entry in the history of a delivery.
type DeliveryEntry struct {
	At    time.Time `json:"at"`
	What  string    `json:"what" enum:"sent,updated,failed,dead,deferred,skipped,redelivered"`
	Error string    `json:"error,omitempty"`
}

const (
	// DeliveryLease is the length of a lease on a delivery. If its holder is
	// silent for longer, another process may take the delivery.
	DeliveryLease = 15 * time.Second
	// maxHistory is the number of history entries that a delivery keeps.
	maxHistory = 30
	// maxDeliveryError is the maximum length of a stored error, in characters.
	maxDeliveryError = 500
	// maxRetryAfter is the longest wait that a remote system may ask for.
	maxRetryAfter = 24 * time.Hour
)

// retryDelays are the waits after the first failure, the second one, and so on.
var retryDelays = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

// addJitter varies a wait by up to a tenth, so that deliveries that failed
// together are not retried together.
func addJitter(d time.Duration) time.Duration {
	tenth := int64(d / 10)
	if tenth == 0 {
		return d
	}
	return d - time.Duration(tenth) + time.Duration(rand.Int64N(2*tenth)) //nolint:gosec // spreads load, guards nothing
}

func (d *Delivery) addHistory(now time.Time, what, detail string) {
	d.History = append(d.History, DeliveryEntry{At: now, What: what, Error: detail})
	if over := len(d.History) - maxHistory; over > 0 {
		// The first entry stays, because it says when the delivery began.
		d.History = append(d.History[:1], d.History[1+over:]...)
	}
}

// IsDue reports whether the delivery needs its next step at the instant now.
func (d *Delivery) IsDue(now time.Time) bool { return d.NextAt != nil && !now.Before(*d.NextAt) }

// IsLeased reports whether a process holds the lease of the delivery.
func (d *Delivery) IsLeased(now time.Time) bool {
	return d.LeasedUntil != nil && now.Before(*d.LeasedUntil)
}

// Lease leases the delivery to the caller. It is due again at the end of the
// lease if the caller does not report back.
func (d *Delivery) Lease(now time.Time) {
	until := TruncateTime(now.Add(DeliveryLease))
	d.LeasedUntil, d.NextAt = &until, &until
}

// NoteSent records that the message was sent, or updated if it was sent before.
// The message shows the question as of the event with the number shownEvent.
func (d *Delivery) NoteSent(now time.Time, ref json.RawMessage, status QuestionStatus, shownEvent int64) {
	d.Ref = ref
	what := "sent"
	if d.State == DeliverySent {
		what = "updated"
		d.UpdatedAt = &now
	} else {
		d.SentAt = &now
	}
	d.State, d.Reason, d.LastError, d.FailedTries, d.LeasedUntil, d.NextAt = DeliverySent, "", "", 0, nil, nil
	d.Attempts++
	d.ShownStatus, d.ShownEvent = status, max(d.ShownEvent, shownEvent)
	d.addHistory(now, what, "")
	d.scheduleUpdate(now)
}

// scheduleUpdate makes an update due if a newer event must be shown.
func (d *Delivery) scheduleUpdate(now time.Time) {
	if d.State == DeliverySent && len(d.Ref) > 0 && d.WantedEvent > d.ShownEvent {
		d.NextAt = &now
	}
}

// EndLease ends a lease whose holder found nothing to do.
func (d *Delivery) EndLease() { d.LeasedUntil, d.NextAt = nil, nil }

// NoteFailure records that sending or updating failed. The delivery is retried unless
// the failure is permanent or the retries are used up.
func (d *Delivery) NoteFailure(now time.Time, reason string, permanent bool, retryAfter time.Duration) {
	d.Attempts++
	d.FailedTries++
	d.LastError, d.LeasedUntil, d.NextAt = storedErrorText(d.RemoveSecrets(reason)), nil, nil
	sent := d.State == DeliverySent
	if permanent && !sent || d.FailedTries > len(retryDelays) {
		// A message that was sent stays sent, though it shows an old state. It
		// is not given up at the first permanent failure, because the channel
		// may be repaired meanwhile.
		if !sent {
			d.State = DeliveryDead
		}
		d.ShownEvent = max(d.ShownEvent, d.WantedEvent)
		d.addHistory(now, "dead", d.LastError)
		return
	}
	wait := max(addJitter(retryDelays[d.FailedTries-1]), min(retryAfter, maxRetryAfter))
	next := TruncateTime(now.Add(wait))
	d.NextAt = &next
	if !sent {
		d.State = DeliveryFailed
	}
	d.addHistory(now, "failed", d.LastError)
}

// NoteMaybeSent records that a failed message may have arrived. It sets a lease that has ended, as if the sender had
// crashed while it was sending. [Delivery.NoteQuestionChange] does not skip a message with such a lease.
func (d *Delivery) NoteMaybeSent(now time.Time) {
	if d.State == DeliveryFailed {
		d.LeasedUntil = &now
	}
}

// RemoveAllSecrets applies [Delivery.RemoveSecrets] to every text of the
// delivery. Rows that earlier versions stored still contain such secrets.
func (d *Delivery) RemoveAllSecrets() *Delivery {
	d.Content, d.LastError = d.RemoveSecrets(d.Content), d.RemoveSecrets(d.LastError)
	for i := range d.History {
		d.History[i].Error = d.RemoveSecrets(d.History[i].Error)
	}
	return d
}

// RedactFor removes the content that the caller may not read. Nobody may read the links and secrets that can decide a
// question. Agents may not read errors, because an error may contain an address.
func (d *Delivery) RedactFor(c Caller) *Delivery {
	if c.Kind == ActorAgent {
		d.LastError = ""
		for i := range d.History {
			d.History[i].Error = ""
		}
	}
	return d.RemoveAllSecrets()
}

// minReplySecretLength is the minimum length of the secret that follows a delivery's id.
const minReplySecretLength = 16

// RemoveSecrets returns a text about the delivery without the secrets that
// decide in its recipient's name: answer links, and the secret of a reply.
func (d *Delivery) RemoveSecrets(text string) string {
	text = RemoveAnswerLinks(text)
	id := strings.TrimPrefix(d.ID, PrefixDelivery+"_")
	if id == "" {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, id)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(id)
		rest := strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
		if len(after)-len(rest) >= minReplySecretLength {
			b.WriteString("[removed]")
			after = rest
		}
		text = after
	}
}

// storedErrorText returns the part of an error that is stored. The error may contain
// text of a remote system.
func storedErrorText(message string) string {
	return strings.ReplaceAll(firstLine(message, maxDeliveryError), "\x00", "\uFFFD")
}

// Defer puts the delivery off until an instant, and records the reason.
func (d *Delivery) Defer(now, until time.Time, reason string) {
	if d.Reason != reason {
		d.Deferrals = 0
		d.addHistory(now, "deferred", reason)
	}
	d.Deferrals++
	until = TruncateTime(until)
	d.Reason, d.NextAt, d.LeasedUntil = reason, &until, nil
}

// Skip ends the delivery without sending. If an earlier message exists and was
// to be sent again, that message stays and is kept up to date.
func (d *Delivery) Skip(now time.Time, reason string) {
	d.State, d.Reason, d.NextAt, d.LeasedUntil = DeliverySkipped, reason, nil, nil
	d.addHistory(now, "skipped", reason)
	if len(d.Ref) > 0 {
		d.State, d.Reason = DeliverySent, ""
		d.scheduleUpdate(now)
	}
}

// Release gives the lease back without an attempt. The delivery is due at once.
func (d *Delivery) Release(now time.Time) { d.LeasedUntil, d.NextAt = nil, &now }

// NoteQuestionChange records that the question of the message changed at the event seq. A
// sent message gets an update. A message that was not sent is skipped if the
// question is closed. A message that is being sent is checked again afterwards.
func (d *Delivery) NoteQuestionChange(seq int64, closed bool, now time.Time) {
	if d.EventSeq > 0 {
		// An event is a fact. Its message reports it unchanged, whatever came later.
		return
	}
	d.WantedEvent = max(d.WantedEvent, seq)
	switch {
	case d.IsLeased(now):
	case d.State == DeliverySent:
		d.scheduleUpdate(now)
	case closed && d.LeasedUntil == nil && (d.State == DeliveryWaiting || d.State == DeliveryFailed || len(d.Ref) > 0):
		d.Skip(now, SkippedClosed)
	}
}

// Redeliver makes the message due again, under the same id. It keeps the
// reference of the first message until the second one is sent. It returns an
// error while the message is being sent.
func (d *Delivery) Redeliver(now time.Time) error {
	if d.IsLeased(now) {
		return Errorf(CodeIllegalTransition, "the message is being sent right now").WithHint("check again in a minute")
	}
	d.State, d.Reason, d.FailedTries, d.NextAt, d.LeasedUntil = DeliveryWaiting, "", 0, &now, nil
	d.Condition = WhenAlways
	d.addHistory(now, "redelivered", "")
	return nil
}

// pageCheckDelay is the time after which Fermata first checks again whether a person
// still has a page open. The wait doubles each time, up to maxPageCheckDelay.
const (
	pageCheckDelay    = 30 * time.Second
	maxPageCheckDelay = time.Hour
)

// NextPageCheck returns the instant of the next check of a message that waits until
// a page is closed.
func (d *Delivery) NextPageCheck(now time.Time) time.Time {
	wait := pageCheckDelay
	if d.Reason == WaitsForPage {
		for range min(d.Deferrals, 7) {
			wait *= 2
		}
	}
	return now.Add(min(wait, maxPageCheckDelay))
}
