package delivery

import (
	"context"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// maxPlanBatch is the largest number of events that are planned at once.
	maxPlanBatch = 200
	// maxCursorLag is how far the cursor may stay behind while there is nothing
	// to plan. Without this slack, every commit would cause another commit that
	// moves the cursor.
	maxCursorLag = 1000
)

// plannedEventTypes are the types of events after which a message is sent or updated.
// The types to which machines subscribe are added to these.
var plannedEventTypes = []fermata.EventType{
	fermata.EventQuestionAsked, fermata.EventQuestionEscalated, fermata.EventQuestionAssigned, fermata.EventQuestionAnswered,
	fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled, fermata.EventQuestionExtended, fermata.EventQuestionVoteCast,
	fermata.EventQuestionAnsweredLate, fermata.EventProgressReported, fermata.EventDeliveryAlert,
}

// plan adds the deliveries for the events after the cursor, and moves the
// cursor on. It reports whether there are more events.
func (w *workspace) plan(ctx context.Context) (bool, error) {
	r := w.s.db.Reader(ctx, w.id)
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
		return false, w.advanceCursor(ctx, plan.Seq, head.Seq, nil)
	}
	if plan.Seq >= head.Seq {
		return false, nil
	}
	if unseen, err := w.hasUnseenChange(r, head.Seq); err != nil {
		return false, err
	} else if unseen {
		w.forget(true)
		return true, nil
	}
	from := max(plan.Seq, w.scannedSeq)
	if from >= head.Seq {
		return false, nil
	}
	b := &batch{w: w, channels: w.sortedChannels(), plan: plan, head: head.Seq, wantedSeq: map[string]int64{}, unreached: map[string]string{}}
	if err := b.read(ctx, r, from); err != nil {
		return false, err
	}
	b.planEvents()
	if b.isIdle() && b.head-plan.Seq < maxCursorLag {
		w.scannedSeq = b.head
		return b.head < head.Seq, nil
	}
	if err := w.advanceCursor(ctx, plan.Seq, b.head, b); err != nil {
		return false, err
	}
	w.wakeSenders()
	return b.head < head.Seq || b.stale, nil
}

// startPlanning makes channels and routes written in this transaction apply to
// events from the next one on. It moves the cursor past the events that have no
// recipient. For the remaining events before this write, each changed channel
// keeps the subscription that it had. Call it in the transaction that changes
// the channels, before the change.
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
	active, err := hasRecipient(tx.Reader)
	if err != nil {
		return err
	}
	if active && plan.Seq >= 0 {
		if upTo, err = plannedUpTo(tx.Reader, plan, head.Seq); err != nil {
			return err
		}
	}
	if upTo < head.Seq {
		for _, c := range changed {
			earlier := store.EarlierSubscription{ChannelID: c.ID, UpTo: head.Seq}
			if c.Enabled {
				earlier.Types = subscriptions(c)
			} else {
				// A disabled channel gets none of the events so far, even after
				// it is enabled again.
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

// plannedUpTo returns the number of the last event up to which nothing is left
// to plan for the existing channels. It may be ahead of the cursor.
func plannedUpTo(r store.Reader, plan store.Plan, upTo int64) (int64, error) {
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
	find := store.EventFilter{After: after, Before: upTo + 1, Types: typesToPlan(subscribed), Limit: 1}
	first, err := r.Events(find)
	if err == nil && len(first) > 0 && first[0].Type == fermata.EventProgressReported && !isSubscribed(subscribed, fermata.EventProgressReported) {
		var wanted bool
		if wanted, err = isProgressWanted(r); err == nil && !wanted {
			find.Types = slices.DeleteFunc(find.Types, func(t string) bool { return t == string(fermata.EventProgressReported) })
			first, err = r.Events(find)
		}
	}
	if err != nil || len(first) == 0 {
		return upTo, err
	}
	return first[0].Seq - 1, nil
}

// isProgressWanted reports whether a member has switched on messages about
// progress.
func isProgressWanted(r store.Reader) (bool, error) {
	members, err := r.Members()
	if err != nil {
		return false, err
	}
	preferences, err := r.Preferences((&people{members: members}).ids())
	return anyWantsProgress(preferences), err
}

func anyWantsProgress(preferences map[string]fermata.Preferences) bool {
	for _, p := range preferences {
		if p.WantsAnyProgress() {
			return true
		}
	}
	return false
}

// typesToPlan returns the types of events to plan for, if machines subscribe
// to the given ones. An empty list means all types.
func typesToPlan(subscribed []string) []string {
	if slices.Contains(subscribed, "*") {
		return nil
	}
	types := slices.Clone(subscribed)
	for _, t := range plannedEventTypes {
		types = append(types, string(t))
	}
	return fermata.SortUnique(types)
}

// hasRecipient reports whether there is a recipient: an enabled channel other
// than push, or a device for push messages.
func hasRecipient(r store.Reader) (bool, error) {
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

// isOutdated reports whether the stored channels differ from those that the batch
// was planned for. This happens if this process has not seen a change yet.
func (b *batch) isOutdated(tx *store.Tx) (bool, error) {
	rows, err := tx.Channels()
	if err != nil {
		return false, err
	}
	known := map[string]fermata.Channel{}
	for _, ch := range b.channels {
		info := ch.info()
		known[info.ID] = info
	}
	for _, row := range rows {
		if !row.Enabled {
			continue
		}
		ch, ok := known[row.ID]
		if !ok || !sameChannel(&ch, row) {
			return true, nil
		}
		delete(known, row.ID)
	}
	return len(known) > 0, nil
}

// advanceCursor writes the deliveries of a batch and the cursor, unless another
// process was first.
func (w *workspace) advanceCursor(ctx context.Context, from, to int64, b *batch) error {
	return w.s.db.Write(ctx, w.id, func(tx *store.Tx) error {
		plan, err := tx.Plan()
		if err != nil || plan.Seq != from {
			return err
		}
		if b != nil {
			if b.stale = !reflect.DeepEqual(plan, b.plan); b.stale {
				return nil
			}
			if b.stale, err = b.isOutdated(tx); err != nil || b.stale {
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

func (w *workspace) wakeSenders() {
	for _, ch := range w.sortedChannels() {
		ch.wake()
	}
}
