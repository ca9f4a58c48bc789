package delivery

import (
	"context"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// planBatch is how many events are planned for at once.
	planBatch = 200
	// cursorEvery is how far the cursor stays behind while nothing is to be
	// planned: not every commit costs another one.
	cursorEvery = 1000
)

// plannedOf are the types of events after which something is sent or brought
// up to date, beside those to which machines subscribe.
var plannedOf = []fermata.EventType{
	fermata.EventQuestionAsked, fermata.EventQuestionEscalated, fermata.EventQuestionAssigned, fermata.EventQuestionAnswered,
	fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled, fermata.EventQuestionExtended, fermata.EventQuestionVoteCast,
	fermata.EventQuestionAnsweredLate, fermata.EventProgressReported, fermata.EventDeliveryAlert,
}

// plan adds the deliveries for the events behind the cursor, and moves it on.
// It reports whether there is more.
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
		// From now on: what was asked before is in the inbox.
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

// startPlanning has what changes from this write on planned for what happens
// from it on: the cursor moves over what nobody was to hear of until now, and
// what is left is planned by the subscription that each changed channel had. It
// belongs into the write that changes the channels, ahead of the change.
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
				// Who is switched off gives up what was not sent yet.
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

// plannedFor returns up to which event nothing is left to plan for the channels
// that there are, where the cursor may have stayed behind.
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

// progressIsHeard reports whether anybody has switched progress on.
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

// plannedTypes are the types of events that are planned for where machines
// subscribe to some; none for all.
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

// delivers reports whether there is anything to deliver to: a channel, or for
// pushing a device.
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

// outdated reports whether the channels are others than those that the batch
// was planned for: this process has not heard of a change yet.
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

// moveOn writes what a batch planned, and the cursor, unless another process
// was first.
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
