package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// alertData is the data of an alert event.
type alertData struct {
	// Kind is undelivered, channel or worker.
	Kind    string `json:"kind"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	Channel string `json:"channel,omitempty"`
}

const (
	// arrivalGrace is the time after the last step of a question's route within
	// which the question must have reached a person. The time is shorter if the
	// deadline is near.
	arrivalGrace  = time.Minute
	checkInterval = 5 * time.Second
)

// kindCheck is the kind of the delivery rows that are checks and not messages. A check finds out whether a question
// reached a person, or sends a reminder.
const kindCheck = "watch"

// planArrivalCheck plans a check whether any message about an urgent question arrived.
func (b *batch) planArrivalCheck(q *fermata.Question, steps []routeStep, e *fermata.Event) {
	last := time.Duration(0)
	for _, s := range steps {
		last = max(last, s.delay)
	}
	at := e.At.Add(last + arrivalGrace)
	if q.Deadline != nil {
		if half := e.At.Add(q.Deadline.Sub(e.At) / 2); half.Before(at) {
			at = half
		}
	}
	b.planCheck(q, notice.Alert, at, "watch")
}

// planCheck plans a check of the question at the instant at. The purpose is an alert or a reminder. keyPart
// distinguishes the checks of one question.
func (b *batch) planCheck(q *fermata.Question, purpose notice.Purpose, at time.Time, keyPart string) {
	at = fermata.TruncateTime(at)
	b.rows = append(b.rows, &fermata.Delivery{
		ID: fermata.NewID(fermata.PrefixDelivery, b.now), QuestionID: q.ID, TaskID: q.TaskID, ChannelID: kindCheck + ":" + b.w.id, Kind: kindCheck,
		Purpose: string(purpose), State: fermata.DeliveryWaiting, NextAt: &at, CreatedAt: b.now,
		DeliveryInternals: fermata.DeliveryInternals{UniqueKey: q.ID + "/" + keyPart},
	})
}

// runChecks runs the regular checks until ctx ends. It raises an alert for urgent
// questions that reached no person, and for tasks that no worker takes. It
// sends reminders of questions that have waited long.
func (w *workspace) runChecks(ctx context.Context) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	var unclaimed time.Time
	for {
		if w.isActive() {
			if err := w.runDueChecks(ctx); err != nil && ctx.Err() == nil {
				w.s.Log.ErrorContext(ctx, "look for questions that reached nobody or wait for long", "error", err)
			}
			if time.Since(unclaimed) >= unclaimedInterval {
				unclaimed = time.Now()
				if err := w.checkUnclaimed(ctx); err != nil && ctx.Err() == nil {
					w.s.Log.ErrorContext(ctx, "look for tasks that no worker takes", "error", err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *workspace) runDueChecks(ctx context.Context) error {
	now, err := w.s.db.Now(ctx)
	if err != nil {
		return err
	}
	due, err := w.s.db.DueDeliveries(ctx, kindCheck+":"+w.id, now, 100)
	if err != nil || len(due) == 0 {
		return err
	}
	ids := make([]string, 0, len(due))
	for _, d := range due {
		ids = append(ids, d.ID)
	}
	b, err := w.newReminderBatch(ctx, now)
	if err != nil {
		return err
	}
	err = w.s.db.Write(ctx, w.id, func(tx *store.Tx) error {
		rows, err := tx.DeliveriesByID(ids)
		if err != nil {
			return err
		}
		for _, d := range rows {
			handle := w.checkArrival
			if d.Purpose == string(notice.Reminder) {
				handle = b.remindAgain
			}
			// Another process may have been first.
			if !d.IsDue(tx.Now()) {
				continue
			}
			if err := handle(tx, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		w.wakeSenders()
	}
	return err
}

// checkArrival ends the check. If the question is still pending and has reached no person, it alerts the operators.
func (w *workspace) checkArrival(tx *store.Tx, check *fermata.Delivery) error {
	q, err := tx.Question(check.QuestionID)
	if err != nil {
		return err
	}
	check.Skip(tx.Now(), fermata.SkippedNotNeeded)
	tx.SaveDelivery(check)
	if q.Status != fermata.Pending {
		return nil
	}
	rows, err := tx.DeliveriesOf([]string{q.ID})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, hasArrived) {
		return nil
	}
	p, err := w.cachedPeople(tx.Reader)
	if err != nil {
		return err
	}
	reason := describeArrival(rows, p.eligibleMembers(q))
	tx.SetUnreached(q, reason)
	alertUndelivered(tx, q, reason)
	return nil
}

// hasArrived reports whether a delivery has reached a person. A person with an open page sees the question there.
func hasArrived(d *fermata.Delivery) bool {
	return d.Kind != kindCheck && (d.State == fermata.DeliverySent || d.Reason == fermata.WaitsForPage)
}

// describeArrival returns why the deliveries of a question, of which none has arrived, reached none of the members who
// may answer it.
func describeArrival(rows []*fermata.Delivery, members []*fermata.Member) string {
	quiet, failed, waiting := map[string]bool{}, "", ""
	for _, d := range rows {
		switch {
		case d.Kind == kindCheck:
		case d.Reason == fermata.WaitsForQuiet:
			quiet[d.MemberID] = true
		case d.LastError != "":
			failed = "the last error, over " + d.Channel + ": " + d.LastError
		case d.State == fermata.DeliveryWaiting && d.Reason == "":
			waiting = "it is still waiting to be sent over " + d.Channel
		}
	}
	var reasons []string
	all := coversAll(quiet, members)
	switch {
	case len(quiet) > 0 && all:
		reasons = append(reasons, "those who may answer it have quiet hours")
	case len(quiet) > 0:
		reasons = append(reasons, "some of those who may answer it have quiet hours")
	}
	for _, reason := range []string{waiting, failed} {
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	switch {
	case len(reasons) == 0:
		return "nothing was sent: nobody who may answer it can be reached over the channels of its route"
	case len(reasons) == 1 && len(quiet) > 0 && !all:
		reasons = append(reasons, "the others cannot be reached over the channels of its route")
	}
	return strings.Join(reasons, "; ")
}

// alertUndelivered alerts the operators about a question that has reached no person.
func alertUndelivered(tx *store.Tx, q *fermata.Question, reason string) {
	tx.Append(&fermata.Event{
		Type: fermata.EventDeliveryAlert, TaskID: q.TaskID, QuestionID: q.ID, Actor: fermata.SystemActor,
		Data: mustJSON(alertData{
			Kind: "undelivered", Title: "A question has reached nobody",
			Body: fmt.Sprintf("%s (%s) waits for an answer%s, and %s.", q.Title, q.ID, deadlineText(q), reason),
		}),
	})
}

func deadlineText(q *fermata.Question) string {
	if q.Deadline == nil {
		return ""
	}
	return " until " + q.Deadline.UTC().Format(time.RFC3339)
}

// alertChannel alerts the operators about a channel that has failed for a while.
func alertChannel(tx *store.Tx, c *fermata.Channel) {
	tx.Append(&fermata.Event{
		Type: fermata.EventDeliveryAlert, Actor: fermata.SystemActor,
		Data: mustJSON(alertData{
			Kind: "channel", Channel: c.Name, Title: "The channel " + c.Name + " does not work",
			Body: fmt.Sprintf("Nothing could be sent over it since %s: %s. Try fermata channel test %s.",
				c.FailingSince.UTC().Format(time.RFC3339), c.LastError, c.Name),
		}),
	})
}

// planAlert plans the messages to the operators. They go over every open channel, except the faulty one, public ones
// and those that machines subscribe to.
func (b *batch) planAlert(e *fermata.Event) {
	var d alertData
	if json.Unmarshal(e.Data, &d) != nil {
		return
	}
	members := b.people.operators()
	reached := map[string]bool{}
	for _, ch := range b.channels {
		info := ch.info()
		if ch.kind.Public || info.Name == d.Channel || len(ch.subscriptions()) > 0 || ch.openErr != nil {
			continue
		}
		for _, a := range b.people.addresses(ch.kind, members) {
			// Two channels of the same kind reach a person at the same address.
			destination := info.Kind + "/" + a.member + "/" + a.device
			if a.member != "" && reached[destination] {
				continue
			}
			reached[destination] = true
			row := b.newDelivery(ch, a, notice.Alert, e.At, fmt.Sprintf("alert/%d/%s/%s/%s", e.Seq, info.ID, a.member, a.device))
			row.TaskID, row.Title, row.Body = e.TaskID, d.Title, d.Body
			b.rows = append(b.rows, row)
		}
	}
}
