package delivery

import (
	"context"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// planBatch is the largest number of events that are planned at once.
	planBatch = 200
	// cursorEvery is how far the cursor may stay behind while there is nothing
	// to plan. Otherwise every commit would cause another one.
	cursorEvery = 1000
)

// plannedOf are the types of events after which a message is sent or updated.
// The types to which machines subscribe are added to these.
var plannedOf = []fermata.EventType{
	fermata.EventQuestionAsked, fermata.EventQuestionEscalated, fermata.EventQuestionAssigned, fermata.EventQuestionAnswered,
	fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled, fermata.EventQuestionExtended, fermata.EventQuestionVoteCast,
	fermata.EventQuestionAnsweredLate, fermata.EventProgressReported, fermata.EventDeliveryAlert,
}

// plan adds the deliveries for the events after the cursor, and moves the
// cursor on. It reports whether there are more events.
func (w *workspace) plan(ctx context.Context) (bool, error) {
	r := w.s.db.In(ctx, w.id)
	plan, err := r.Plan()
	if err != nil {
		return false, err
	}
	head, err := r.Head()
	if err != nil {
		return false, err
	}
	if plan.Seq < 0 {
		// Planning begins with the next event. Questions that were asked before
		// are in the inbox.
		return false, w.moveOn(ctx, plan.Seq, head.Seq, nil)
	}
	if plan.Seq >= head.Seq {
		return false, nil
	}
	if again, err := w.isBehind(r, head.Seq); err != nil || again {
		return again, err
	}
	from := max(plan.Seq, w.looked)
	if from >= head.Seq {
		return false, nil
	}
	b := &batch{w: w, channels: w.usableChannels(), plan: plan, head: head.Seq, wants: map[string]int64{}, told: map[string]string{}}
	if err := b.read(ctx, r, from); err != nil {
		return false, err
	}
	b.planEvents()
	if b.idle() && b.head-plan.Seq < cursorEvery {
		w.looked = b.head
		return b.head < head.Seq, nil
	}
	if err := w.moveOn(ctx, plan.Seq, b.head, b); err != nil {
		return false, err
	}
	w.wakeLanes()
	return b.head < head.Seq || b.stale, nil
}

// startPlanning makes channels and routes written in this transaction apply to
// events from the next one on. It moves the cursor over events without a
// recipient so far. The other events before this write are planned by the
// subscription that each changed channel had. Call it in the transaction that
// changes the channels, before the change.
func startPlanning(tx *store.Tx, changed ...*fermata.Channel) error {
	plan, err := tx.Plan()
	if err != nil {
		return err
	}
	head, err := tx.Head()
	if err != nil {
		return err
	}
	upTo := head.Seq
	active, err := delivers(tx.Reader)
	if err != nil {
		return err
	}
	if active && plan.Seq >= 0 {
		if upTo, err = plannedFor(tx.Reader, plan, head.Seq); err != nil {
			return err
		}
	}
	if upTo < head.Seq {
		for _, c := range changed {
			earlier := store.EarlierSubscription{ChannelID: c.ID, UpTo: head.Seq}
			if c.Enabled {
				earlier.Types = subscriptions(c)
			} else {
				// A channel that is switched off loses the events that were not
				// sent yet.
				plan.Earlier = slices.DeleteFunc(plan.Earlier, func(s store.EarlierSubscription) bool { return s.ChannelID == c.ID })
			}
			plan.Earlier = append(plan.Earlier, earlier)
		}
	}
	if upTo != plan.Seq || upTo < head.Seq && len(changed) > 0 {
		tx.SetPlanned(upTo, plan.Earlier)
	}
	return nil
}

// plannedFor returns the number of the last event up to which nothing is left
// to plan for the existing channels. It may be after the cursor.
func plannedFor(r store.Reader, plan store.Plan, upTo int64) (int64, error) {
	after := plan.Seq
	if after >= upTo {
		return after, nil
	}
	channels, err := r.Channels()
	if err != nil {
		return after, err
	}
	var subscribed []string
	for _, c := range channels {
		if c.Enabled {
			subscribed = append(subscribed, subscriptions(c)...)
		}
	}
	for _, s := range plan.Earlier {
		subscribed = append(subscribed, s.Types...)
	}
	find := store.EventFilter{After: after, Before: upTo + 1, Types: plannedTypes(subscribed), Limit: 1}
	first, err := r.Events(find)
	if err == nil && len(first) > 0 && first[0].Type == fermata.EventProgressReported && !subscribes(subscribed, fermata.EventProgressReported) {
		var heard bool
		if heard, err = progressIsHeard(r); err == nil && !heard {
			find.Types = slices.DeleteFunc(find.Types, func(t string) bool { return t == string(fermata.EventProgressReported) })
			first, err = r.Events(find)
		}
	}
	if err != nil || len(first) == 0 {
		return upTo, err
	}
	return first[0].Seq - 1, nil
}

// progressIsHeard reports whether a member has switched on messages about
// progress.
func progressIsHeard(r store.Reader) (bool, error) {
	members, err := r.Members()
	if err != nil {
		return false, err
	}
	wishes, err := r.Preferences((&people{members: members}).ids())
	return hearProgress(wishes), err
}

func hearProgress(wishes map[string]fermata.Preferences) bool {
	for _, p := range wishes {
		if p.HearsProgress() {
			return true
		}
	}
	return false
}

// plannedTypes returns the types of events to plan for, if machines subscribe
// to the given ones. An empty list means all types.
func plannedTypes(subscribed []string) []string {
	if slices.Contains(subscribed, "*") {
		return nil
	}
	types := slices.Clone(subscribed)
	for _, t := range plannedOf {
		types = append(types, string(t))
	}
	return fermata.Distinct(types)
}

// delivers reports whether there is a recipient: an enabled channel, or a
// device for push messages.
func delivers(r store.Reader) (bool, error) {
	channels, err := r.Channels()
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(channels, func(c *fermata.Channel) bool { return c.Enabled && c.Kind != fermata.KindPush }) {
		return true, nil
	}
	devices, err := r.Devices()
	return len(devices) > 0, err
}

// outdated reports whether the stored channels differ from those that the batch
// was planned for. This happens if this process has not seen a change yet.
func (b *batch) outdated(tx *store.Tx) (bool, error) {
	rows, err := tx.Channels()
	if err != nil {
		return false, err
	}
	known := map[string]fermata.Channel{}
	for _, l := range b.channels {
		info := l.info()
		known[info.ID] = info
	}
	for _, row := range rows {
		if !row.Enabled {
			continue
		}
		l, ok := known[row.ID]
		if !ok || !sameChannel(&l, row) {
			return true, nil
		}
		delete(known, row.ID)
	}
	return len(known) > 0, nil
}

// moveOn writes the deliveries of a batch and the cursor, unless another
// process was first.
func (w *workspace) moveOn(ctx context.Context, from, to int64, b *batch) error {
	return w.s.db.Write(ctx, w.id, func(tx *store.Tx) error {
		plan, err := tx.Plan()
		if err != nil || plan.Seq != from {
			return err
		}
		if b != nil {
			if b.stale = !reflect.DeepEqual(plan, b.plan); b.stale {
				return nil
			}
			if b.stale, err = b.outdated(tx); err != nil || b.stale {
				w.forget(true)
				return err
			}
			if err := b.write(tx); err != nil {
				return err
			}
		}
		tx.SetPlanned(to, plan.Earlier)
		return nil
	})
}

func (w *workspace) wakeLanes() {
	for _, l := range w.usableChannels() {
		l.wake()
	}
}
