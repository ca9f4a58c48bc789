package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
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

// batch is a number of events and what is to be planned for them.
type batch struct {
	w      *workspace
	lanes  []*lane
	people *people
	routes fermata.Routes
	events []*fermata.Event
	// head is the number up to which the batch plans.
	head int64
	now  time.Time

	questions map[string]*fermata.Question
	wishes    map[string]fermata.Preferences
	// rows are the deliveries to add; wants says which messages must show what.
	rows  []*fermata.Delivery
	wants map[string]int64
	// stale says that the channels had changed, and nothing was written.
	stale bool
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
	if again, err := w.behind(r, head.Seq); err != nil || again {
		return again, err
	}
	from := max(plan.Seq, w.looked)
	if from >= head.Seq {
		return false, nil
	}
	b := &batch{w: w, lanes: w.usable(), routes: plan.Routes, head: head.Seq, wants: map[string]int64{}}
	if err := b.read(ctx, r, from); err != nil {
		return false, err
	}
	if len(b.events) == 0 && b.head-plan.Seq < cursorEvery {
		w.looked = b.head
		return false, nil
	}
	b.think()
	if err := w.moveOn(ctx, plan.Seq, b.head, b); err != nil {
		return false, err
	}
	w.wakeLanes()
	return b.head < head.Seq || b.stale, nil
}

// startPlanning has what changes from this write on planned for what happens
// from it on: the cursor moves over what nobody was to hear of until now. It
// belongs into the write that changes the channels, ahead of the change.
func startPlanning(tx *store.Tx) error {
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
		if upTo, err = plannedFor(tx.Reader, plan.Seq, head.Seq); err != nil {
			return err
		}
	}
	if upTo != plan.Seq {
		tx.SetPlanned(upTo)
	}
	return nil
}

// plannedFor returns up to which event nothing is left to plan for the channels
// that there are, where the cursor may have stayed behind.
func plannedFor(r store.Reader, after, upTo int64) (int64, error) {
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
	first, err := r.Events(store.EventFilter{After: after, Before: upTo + 1, Types: plannedTypes(subscribed), Limit: 1})
	if err != nil || len(first) == 0 {
		return upTo, err
	}
	return first[0].Seq - 1, nil
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
	for _, l := range b.lanes {
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
			if b.stale, err = b.outdated(tx); err != nil || b.stale {
				w.forget(true)
				return err
			}
			if err := b.write(tx); err != nil {
				return err
			}
		}
		tx.SetPlanned(to)
		return nil
	})
}

func (w *workspace) wakeLanes() {
	for _, l := range w.usable() {
		l.wake()
	}
}

// read reads the events and what they are about.
func (b *batch) read(ctx context.Context, r store.Reader, after int64) error {
	var subscribed []string
	for _, l := range b.lanes {
		subscribed = append(subscribed, l.subscriptions()...)
	}
	var err error
	if b.events, err = r.Events(store.EventFilter{After: after, Before: b.head + 1, Types: plannedTypes(subscribed), Limit: planBatch}); err != nil {
		return err
	}
	if len(b.events) == planBatch {
		b.head = b.events[planBatch-1].Seq
	}
	if len(b.events) == 0 {
		return nil
	}
	if b.now, err = b.w.s.db.Now(ctx); err != nil {
		return err
	}
	if b.people, err = b.w.known(ctx); err != nil {
		return err
	}
	return b.around(r)
}

// around reads the questions and the tasks of the events.
func (b *batch) around(r store.Reader) error {
	var questionIDs []string
	for _, e := range b.events {
		if e.QuestionID != "" && slices.Contains(plannedOf, e.Type) {
			questionIDs = append(questionIDs, e.QuestionID)
		}
	}
	questions, err := r.QuestionsByID(fermata.Distinct(questionIDs))
	if err != nil {
		return err
	}
	b.questions = map[string]*fermata.Question{}
	for _, q := range questions {
		b.questions[q.ID] = q
	}
	b.wishes = map[string]fermata.Preferences{}
	if len(b.people.members) == 0 {
		return nil
	}
	ids := make([]string, 0, len(b.people.members))
	for _, m := range b.people.members {
		ids = append(ids, m.ID)
	}
	b.wishes, err = r.Preferences(ids)
	return err
}

// think finds out what to send for every event.
func (b *batch) think() {
	for _, e := range b.events {
		b.subscribed(e)
		q := b.questions[e.QuestionID]
		switch e.Type {
		case fermata.EventQuestionAsked:
			if q != nil && q.Status == fermata.Pending {
				b.asked(q, e)
			}
		case fermata.EventQuestionEscalated:
			if q != nil && q.Status == fermata.Pending {
				b.escalated(q, e)
			}
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventQuestionAssigned:
			if q != nil && q.Status == fermata.Pending {
				b.assigned(q, e)
			}
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
			b.callBack(q, e)
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventQuestionExtended, fermata.EventQuestionVoteCast, fermata.EventQuestionAnsweredLate:
			b.wants[e.QuestionID] = e.Seq
		case fermata.EventDeliveryAlert:
			b.alert(e)
		case fermata.EventProgressReported:
			b.progress(e)
		default:
		}
	}
}

// step is one place of a route: a channel, when, and on which condition.
type step struct {
	lane  *lane
	delay time.Duration
	when  fermata.RouteWhen
	// named says that the question itself asked for it.
	named bool
}

// steps returns where a question goes: first what it names itself, then its
// route. A channel that stands in both is used once, when it comes first.
func (b *batch) steps(named []string, route []fermata.RouteStep) []step {
	var all []step
	add := func(s step) {
		i := slices.IndexFunc(all, func(other step) bool { return other.lane == s.lane })
		switch {
		case i < 0:
			all = append(all, s)
		case s.delay < all[i].delay:
			all[i] = s
		}
	}
	for _, name := range named {
		for _, l := range called(b.lanes, name) {
			add(step{lane: l, when: fermata.WhenAlways, named: true})
		}
	}
	for _, r := range route {
		for _, l := range called(b.lanes, r.Channel) {
			add(step{lane: l, delay: r.Delay(), when: r.When})
		}
	}
	return all
}

// asked plans what is sent for a new question: where its route leads, the
// reminders, and a look whether anything of it arrived.
func (b *batch) asked(q *fermata.Question, e *fermata.Event) {
	steps := b.steps(q.Channels, b.routes.Of(q.Type))
	members := b.people.mayAnswer(q)
	for _, s := range steps {
		b.toAll(q, s, members, notice.Asked, e.At.Add(s.delay), "asked")
		for i, after := range q.RemindAfter() {
			if at := e.At.Add(after); after > s.delay && (q.Deadline == nil || at.Before(*q.Deadline)) {
				b.toAll(q, s, members, notice.Reminder, at, fmt.Sprintf("reminder%d", i))
			}
		}
	}
	b.watch(q, steps, e)
}

// escalated plans what is sent when a question reaches its next level: the
// people whom it adds hear of it at once.
func (b *batch) escalated(q *fermata.Question, e *fermata.Event) {
	if q.EscalationLevel < 1 || q.EscalationLevel > len(q.Escalation) {
		return
	}
	var at struct {
		Level int `json:"level"`
	}
	if json.Unmarshal(e.Data, &at) != nil || at.Level < 1 || at.Level > len(q.Escalation) {
		at.Level = q.EscalationLevel
	}
	level := q.Escalation[at.Level-1]
	only := *q
	if len(level.Assignees) > 0 {
		only.Assignees = level.Assignees
	}
	members := b.people.mayAnswer(&only)
	for _, s := range b.steps(level.Channels, b.routes.Of(q.Type)) {
		b.toAll(q, step{lane: s.lane, when: fermata.WhenAlways, named: s.named}, members, notice.Escalated, e.At, fmt.Sprintf("level%d", at.Level))
	}
}

// assigned plans what is sent to people whom a question was given to.
func (b *batch) assigned(q *fermata.Question, e *fermata.Event) {
	members := b.people.mayAnswer(q)
	for _, s := range b.steps(q.Channels, b.routes.Of(q.Type)) {
		if s.lane.kind.To == ToPlace {
			continue
		}
		// Who was asked before is not asked again: the key is the same.
		b.toAll(q, s, members, notice.Asked, e.At.Add(s.delay), "asked")
	}
}

// toAll plans one message for each address of the members over a channel.
func (b *batch) toAll(q *fermata.Question, s step, members []*fermata.Member, purpose notice.Purpose, at time.Time, what string) {
	info := s.lane.info()
	for _, a := range b.people.placed(q, s.lane, members) {
		d := b.row(s.lane, a, purpose, at, fmt.Sprintf("%s/%s/%s/%s/%s", q.ID, what, info.ID, a.member, a.device))
		d.QuestionID, d.TaskID, d.When, d.Wanted = q.ID, q.TaskID, s.when, b.head
		wishes := b.wishes[a.member]
		if a.member != "" && !s.named && !wishes.Wants(info.Name, info.Kind, q.Type) {
			continue
		}
		if next, gathers := wishes.NextDigest(at); a.member != "" && gathers && !s.named && q.Type.Urgency() == fermata.UrgencyLow {
			d.Purpose, d.Reason, d.NextAt = string(notice.Digest), fermata.WaitsForDigest, &next
		}
		b.rows = append(b.rows, d)
	}
}

// row makes a delivery that waits.
func (b *batch) row(l *lane, a address, purpose notice.Purpose, at time.Time, unique string) *fermata.Delivery {
	at = fermata.Cut(at)
	info := l.info()
	return &fermata.Delivery{
		ID: fermata.NewID(fermata.PrefixDelivery, b.now), ChannelID: info.ID, Kind: info.Kind, MemberID: a.member,
		Purpose: string(purpose), State: fermata.DeliveryWaiting, NextAt: &at, CreatedAt: b.now,
		DeliveryKeeps: fermata.DeliveryKeeps{Unique: unique, DeviceID: a.device, When: fermata.WhenAlways},
	}
}

// subscribed plans an event for the machines that subscribe to its type.
func (b *batch) subscribed(e *fermata.Event) {
	for _, l := range b.lanes {
		if info := l.info(); e.At.Before(info.CreatedAt) || !subscribes(l.subscriptions(), e.Type) {
			continue
		}
		d := b.row(l, address{}, notice.Event, b.now, fmt.Sprintf("event/%d/%s", e.Seq, l.info().ID))
		d.TaskID, d.EventSeq = e.TaskID, e.Seq
		b.rows = append(b.rows, d)
	}
}

// subscriptions are the types of events that the channel's settings name.
func (l *lane) subscriptions() []string {
	info := l.info()
	return subscriptions(&info)
}

func subscriptions(c *fermata.Channel) []string {
	list, _ := c.Settings["events"].([]any)
	var types []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			types = append(types, s)
		}
	}
	return types
}

func subscribes(types []string, t fermata.EventType) bool {
	return slices.Contains(types, "*") || slices.Contains(types, string(t))
}

// progress plans what people hear of progress who have switched that on.
func (b *batch) progress(e *fermata.Event) {
	var d struct {
		Message string `json:"message"`
		Step    string `json:"step"`
	}
	if json.Unmarshal(e.Data, &d) != nil || d.Message == "" {
		return
	}
	for _, s := range b.steps(nil, b.routes.Progress) {
		info := s.lane.info()
		var members []*fermata.Member
		for _, m := range b.people.members {
			if wishes := b.wishes[m.ID]; m.DisabledAt == nil && wishes.WantsProgress(info.Name, info.Kind) {
				members = append(members, m)
			}
		}
		if len(members) == 0 {
			continue
		}
		for _, a := range b.people.addresses(s.lane.kind, members) {
			row := b.row(s.lane, a, notice.Alert, e.At.Add(s.delay), fmt.Sprintf("progress/%d/%s/%s/%s", e.Seq, info.ID, a.member, a.device))
			row.TaskID, row.When, row.Title, row.Body = e.TaskID, s.when, "Progress", d.Message
			b.rows = append(b.rows, row)
		}
	}
}

// write adds the rows, and has messages brought up to date.
func (b *batch) write(tx *store.Tx) error {
	for _, d := range b.rows {
		tx.PlanDelivery(d)
	}
	ids := make([]string, 0, len(b.wants))
	for id := range b.wants {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	rows, err := tx.DeliveriesOf(ids)
	if err != nil {
		return err
	}
	for _, d := range rows {
		q := b.questions[d.QuestionID]
		if d.Wanted >= b.wants[d.QuestionID] && d.Shown >= b.wants[d.QuestionID] {
			continue
		}
		d.Want(b.wants[d.QuestionID], q == nil || q.Status != fermata.Pending, tx.Now())
		tx.SaveDelivery(d)
	}
	return nil
}
