package fermata

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"
)

// DeliveryState says how far one message got.
type DeliveryState string

// States of a delivery.
const (
	// DeliveryWaiting is not sent yet; next_at says when it will be.
	DeliveryWaiting DeliveryState = "waiting"
	// DeliverySent arrived at the channel, and is kept up to date.
	DeliverySent DeliveryState = "sent"
	// DeliveryFailed did not arrive, and is tried again at next_at.
	DeliveryFailed DeliveryState = "failed"
	// DeliveryDead was given up; it can be sent again by hand.
	DeliveryDead DeliveryState = "dead"
	// DeliverySkipped was not needed any more, or not wanted; reason says why.
	DeliverySkipped DeliveryState = "skipped"
)

// DeliveryStates lists every state.
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

// Delivery is one message to one place, kept up to date afterwards.
type Delivery struct {
	ID         string `json:"id"`
	QuestionID string `json:"question_id,omitempty"`
	TaskID     string `json:"task_id,omitempty"`
	ChannelID  string `json:"channel_id"`
	// Channel is the name of the channel as it is now.
	Channel  string        `json:"channel" doc:"the channel's name"`
	Kind     string        `json:"kind"`
	MemberID string        `json:"member_id,omitempty" doc:"absent where the message went to a place of the channel's own"`
	Member   string        `json:"member,omitempty" doc:"the member's handle"`
	Purpose  string        `json:"purpose" enum:"asked,reminder,escalated,digest,alert,event,test"`
	State    DeliveryState `json:"state" enum:"waiting,sent,failed,dead,skipped"`
	Reason   string        `json:"reason,omitempty" doc:"why it waits or was skipped"`
	// NextAt is when something is to be done about it: send, try again, update.
	NextAt    *time.Time      `json:"next_at,omitempty"`
	Attempts  int             `json:"attempts"`
	LastError string          `json:"last_error,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	SentAt    *time.Time      `json:"sent_at,omitempty"`
	UpdatedAt *time.Time      `json:"updated_at,omitempty" doc:"when the message was last brought up to date"`
	Shows     QuestionStatus  `json:"shows,omitempty" doc:"the status of the question that the message shows"`
	Content   string          `json:"content,omitempty" doc:"what was sent, without what decides; absent for callers who may not read it"`
	History   []DeliveryEntry `json:"history,omitempty"`

	DeliveryKeeps `json:"-"`
}

// DeliveryKeeps is what a delivery needs for its own work.
type DeliveryKeeps struct {
	// Unique names what the delivery is for: the same is planned once.
	Unique   string
	When     RouteWhen
	DeviceID string
	// EventSeq is the event of [Event] messages.
	EventSeq int64
	// Title and Body are the text of alerts.
	Title, Body string
	// Ref is what the channel needs to find the message again.
	Ref json.RawMessage
	// Decides says that the message offered to decide.
	Decides bool
	// Wanted is the number of the last event that the message must show, Shown
	// that of the one which it does.
	Wanted, Shown int64
	// LeasedUntil is until when somebody is working on it.
	LeasedUntil *time.Time
	// Tries counts the failures since something last worked.
	Tries int
	// Deferrals counts how often it was put off for the same reason.
	Deferrals int
	// Version counts the saves.
	Version int64
}

// DeliveryEntry is one thing that happened to a delivery.
type DeliveryEntry struct {
	At    time.Time `json:"at"`
	What  string    `json:"what" enum:"sent,updated,failed,dead,deferred,skipped,redelivered"`
	Error string    `json:"error,omitempty"`
}

const (
	// DeliveryLease is how long a delivery is left alone after whoever works on it
	// was last heard of.
	DeliveryLease = 15 * time.Second
	// mostHistory is how many entries of its history a delivery keeps.
	mostHistory = 30
	// maxDeliveryError bounds an error that is kept.
	maxDeliveryError = 500
	// longestRetryAfter bounds how long a remote system may ask to wait.
	longestRetryAfter = 24 * time.Hour
)

// retryDelays are how long to wait after the first, second … failure.
var retryDelays = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

// jittered varies a wait by a tenth, so that what failed together is not tried
// again together.
func jittered(d time.Duration) time.Duration {
	tenth := int64(d / 10)
	if tenth == 0 {
		return d
	}
	return d - time.Duration(tenth) + time.Duration(rand.Int64N(2*tenth)) //nolint:gosec // spreads load, guards nothing
}

func (d *Delivery) note(now time.Time, what, why string) {
	d.History = append(d.History, DeliveryEntry{At: now, What: what, Error: why})
	if over := len(d.History) - mostHistory; over > 0 {
		// The first entry says when it all began.
		d.History = append(d.History[:1], d.History[1+over:]...)
	}
}

// IsDue reports whether something is to be done about the delivery.
func (d *Delivery) IsDue(now time.Time) bool { return d.NextAt != nil && !now.Before(*d.NextAt) }

// Leased reports whether somebody is working on it.
func (d *Delivery) Leased(now time.Time) bool {
	return d.LeasedUntil != nil && now.Before(*d.LeasedUntil)
}

// Lease claims the delivery. It comes up again when the claimer is not heard
// of until the lease is over.
func (d *Delivery) Lease(now time.Time) {
	until := Cut(now.Add(DeliveryLease))
	d.LeasedUntil, d.NextAt = &until, &until
}

// Deliver notes that the message was sent, or brought up to date where it was
// sent before. It shows the question as it was at the event with the number.
func (d *Delivery) Deliver(now time.Time, ref json.RawMessage, shows QuestionStatus, shown int64) {
	d.Ref = ref
	what := "sent"
	if d.State == DeliverySent {
		what = "updated"
		d.UpdatedAt = &now
	} else {
		d.SentAt = &now
	}
	d.State, d.Reason, d.LastError, d.Tries, d.LeasedUntil, d.NextAt = DeliverySent, "", "", 0, nil, nil
	d.Attempts++
	d.Shows, d.Shown = shows, max(d.Shown, shown)
	d.note(now, what, "")
	d.scheduleUpdate(now)
}

// scheduleUpdate has the message brought up to date where more happened meanwhile.
func (d *Delivery) scheduleUpdate(now time.Time) {
	if d.State == DeliverySent && len(d.Ref) > 0 && d.Wanted > d.Shown {
		d.NextAt = &now
	}
}

// Rest ends a claim that found nothing to do.
func (d *Delivery) Rest() { d.LeasedUntil, d.NextAt = nil, nil }

// Fail notes that sending or updating did not work. It is tried again, unless
// that cannot help or was tried often enough.
func (d *Delivery) Fail(now time.Time, why string, permanent bool, retryAfter time.Duration) {
	d.Attempts++
	d.Tries++
	d.LastError, d.LeasedUntil, d.NextAt = failure(d.WithoutBearers(why)), nil, nil
	sent := d.State == DeliverySent
	if permanent && !sent || d.Tries > len(retryDelays) {
		// A message that was sent stays sent, though it shows what is over. It is
		// not given up at the first refusal: the channel may be mended meanwhile.
		if !sent {
			d.State = DeliveryDead
		}
		d.Shown = max(d.Shown, d.Wanted)
		d.note(now, "dead", d.LastError)
		return
	}
	wait := max(jittered(retryDelays[d.Tries-1]), min(retryAfter, longestRetryAfter))
	next := Cut(now.Add(wait))
	d.NextAt = &next
	if !sent {
		d.State = DeliveryFailed
	}
	d.note(now, "failed", d.LastError)
}

// Doubt notes that a message that failed may have arrived: it looks as if
// whoever sends it was not heard of again, and is not skipped.
func (d *Delivery) Doubt(now time.Time) {
	if d.State == DeliveryFailed {
		d.LeasedUntil = &now
	}
}

// WithoutAllBearers takes out of every text of the delivery what
// [Delivery.WithoutBearers] takes out of one. Rows of earlier versions have it.
func (d *Delivery) WithoutAllBearers() *Delivery {
	d.Content, d.LastError = d.WithoutBearers(d.Content), d.WithoutBearers(d.LastError)
	for i := range d.History {
		d.History[i].Error = d.WithoutBearers(d.History[i].Error)
	}
	return d
}

// SeenBy removes what the caller may not read. Nobody reads links and secrets that decide. Agents read no errors, because an
// error may name an address.
func (d *Delivery) SeenBy(c Caller) *Delivery {
	if c.Kind == ActorAgent {
		d.LastError = ""
		for i := range d.History {
			d.History[i].Error = ""
		}
	}
	return d.WithoutAllBearers()
}

// replySecretLength is the least length of the secret behind a delivery's id.
const replySecretLength = 16

// WithoutBearers returns a text about the delivery without what decides in its
// recipient's name: links that answer, and the secret that a reply carries.
func (d *Delivery) WithoutBearers(text string) string {
	text = WithoutAnswerLinks(text)
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
		behind := strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
		if len(after)-len(behind) >= replySecretLength {
			b.WriteString("[removed]")
			after = behind
		}
		text = after
	}
}

// failure is what is kept of an error, which may hold what a remote system said.
func failure(why string) string {
	return strings.ReplaceAll(firstLine(why, maxDeliveryError), "\x00", "\uFFFD")
}

// Defer puts the delivery off.
func (d *Delivery) Defer(now, until time.Time, reason string) {
	if d.Reason != reason {
		d.Deferrals = 0
		d.note(now, "deferred", reason)
	}
	d.Deferrals++
	until = Cut(until)
	d.Reason, d.NextAt, d.LeasedUntil = reason, &until, nil
}

// Skip ends the delivery without a message. One that stands already, and was to
// be sent again, stays and is kept up to date.
func (d *Delivery) Skip(now time.Time, reason string) {
	d.State, d.Reason, d.NextAt, d.LeasedUntil = DeliverySkipped, reason, nil, nil
	d.note(now, "skipped", reason)
	if len(d.Ref) > 0 {
		d.State, d.Reason = DeliverySent, ""
		d.scheduleUpdate(now)
	}
}

// Release gives a claim back without having tried.
func (d *Delivery) Release(now time.Time) { d.LeasedUntil, d.NextAt = nil, &now }

// Want notes that something happened to the question that the message shows: a
// message that was sent is brought up to date, and one that nobody needs any
// more is skipped. A message that is being sent right now is looked at again
// when it was.
func (d *Delivery) Want(seq int64, closed bool, now time.Time) {
	if d.EventSeq > 0 {
		// An event is a fact: it is told as it was, whatever came after it.
		return
	}
	d.Wanted = max(d.Wanted, seq)
	switch {
	case d.Leased(now):
	case d.State == DeliverySent:
		d.scheduleUpdate(now)
	case closed && d.LeasedUntil == nil && (d.State == DeliveryWaiting || d.State == DeliveryFailed || len(d.Ref) > 0):
		d.Skip(now, SkippedClosed)
	}
}

// Redeliver has the message sent once more, under the same id. It still says
// where the first one stands, until the second does.
func (d *Delivery) Redeliver(now time.Time) error {
	if d.Leased(now) {
		return Errorf(CodeIllegalTransition, "the message is being sent right now").WithHint("look again in a minute")
	}
	d.State, d.Reason, d.Tries, d.NextAt, d.LeasedUntil = DeliveryWaiting, "", 0, &now, nil
	d.When = WhenAlways
	d.note(now, "redelivered", "")
	return nil
}

// pageLooks is how often it is looked whether a person still has a page open;
// the longer, the more rarely.
const (
	pageLook        = 30 * time.Second
	longestPageLook = time.Hour
)

// NextLook returns when to look again at what waits for a page to be closed.
func (d *Delivery) NextLook(now time.Time) time.Time {
	wait := pageLook
	if d.Reason == WaitsForPage {
		for range min(d.Deferrals, 7) {
			wait *= 2
		}
	}
	return now.Add(min(wait, longestPageLook))
}
