package delivery

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// step is one step of a route: a channel, a delay and a condition.
type step struct {
	channel *openChannel
	delay   time.Duration
	when    fermata.RouteWhen
	// named reports whether the question itself names the channel.
	named bool
}

// steps returns the steps for a question: the channels that the question names,
// then its route. A channel that is in both is used once, with the shorter
// delay.
func (b *batch) steps(named []string, route []fermata.RouteStep) []step {
	var all []step
	add := func(s step) {
		i := slices.IndexFunc(all, func(other step) bool { return other.channel == s.channel })
		switch {
		case i < 0:
			all = append(all, s)
		case s.delay < all[i].delay:
			all[i] = s
		}
	}
	for _, name := range named {
		for _, l := range channelsNamed(b.channels, name) {
			add(step{channel: l, when: fermata.WhenAlways, named: true})
		}
	}
	for _, r := range route {
		for _, l := range channelsNamed(b.channels, r.Channel) {
			add(step{channel: l, delay: r.Delay(), when: r.When})
		}
	}
	return all
}

// asked plans the deliveries for a new question: the messages along its route,
// the reminders, and a check whether one of them arrived.
func (b *batch) asked(q *fermata.Question, e *fermata.Event) {
	steps := b.steps(q.Channels, b.plan.Routes.ForType(q.Type))
	members := b.people.mayAnswer(q)
	for _, s := range steps {
		b.toAll(q, s, members, notice.Asked, e.At.Add(s.delay), "asked")
		for i, after := range q.RemindAfter() {
			if at := e.At.Add(after); after > s.delay && (q.Deadline == nil || at.Before(*q.Deadline)) {
				b.toAll(q, s, members, notice.Reminder, at, fmt.Sprintf("reminder%d", i))
			}
		}
	}
	b.repeat(q)
	why := b.whyUnreached(q, steps, members, e.At)
	b.note(q, why)
	switch {
	case q.Type.Urgency() != fermata.UrgencyHigh:
	case why == "":
		b.watch(q, steps, e)
	default:
		b.alarms = append(b.alarms, q)
	}
}

// escalated plans the deliveries for a question that reaches its next level.
// The people whom the level adds are told at once.
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
	for _, s := range b.steps(level.Channels, b.plan.Routes.ForType(q.Type)) {
		b.toAll(q, step{channel: s.channel, when: fermata.WhenAlways, named: s.named}, members, notice.Escalated, e.At, fmt.Sprintf("level%d", at.Level))
	}
}

// assigned plans the deliveries to the people to whom a question was assigned.
func (b *batch) assigned(q *fermata.Question, e *fermata.Event) {
	members := b.people.mayAnswer(q)
	for _, s := range b.steps(q.Channels, b.plan.Routes.ForType(q.Type)) {
		if s.channel.kind.To == ToPlace {
			continue
		}
		// A person who was asked before is not asked again, because the key of
		// the delivery is the same.
		b.toAll(q, s, members, notice.Asked, e.At.Add(s.delay), "asked")
	}
}

// toAll plans one message for each address of the members over a channel.
func (b *batch) toAll(q *fermata.Question, s step, members []*fermata.Member, purpose notice.Purpose, at time.Time, what string) {
	info := s.channel.info()
	for _, a := range b.people.placeAddresses(q, s.channel, members) {
		d := b.row(s.channel, a, purpose, at, fmt.Sprintf("%s/%s/%s/%s/%s", q.ID, what, info.ID, a.member, a.device))
		d.QuestionID, d.TaskID, d.When, d.Wanted = q.ID, q.TaskID, s.when, b.head
		wishes := b.wishes[a.member]
		if a.member != "" && !s.named && !wishes.Wants(info.Name, info.Kind, q.Type) {
			continue
		}
		if next, gathers := wishes.NextDigest(at); a.member != "" && gathers && !s.named && q.Type.Urgency() == fermata.UrgencyLow {
			d.Purpose, d.Reason, d.NextAt = string(notice.Digest), fermata.WaitsForDigest, &next
		}
		b.rows = append(b.rows, d)
		if purpose != notice.Asked || what != "asked" || q.EscalationLevel > 0 {
			b.note(q, "")
		}
	}
}

// row returns a new delivery that waits.
func (b *batch) row(l *openChannel, a address, purpose notice.Purpose, at time.Time, unique string) *fermata.Delivery {
	at = fermata.Cut(at)
	info := l.info()
	return &fermata.Delivery{
		ID: fermata.NewID(fermata.PrefixDelivery, b.now), ChannelID: info.ID, Kind: info.Kind, MemberID: a.member,
		Purpose: string(purpose), State: fermata.DeliveryWaiting, NextAt: &at, CreatedAt: b.now,
		DeliveryKeeps: fermata.DeliveryKeeps{Unique: unique, DeviceID: a.device, When: fermata.WhenAlways},
	}
}

// planForSubscribers plans an event for the machines that subscribe to its
// type.
func (b *batch) planForSubscribers(e *fermata.Event) {
	for _, l := range b.channels {
		if info := l.info(); e.At.Before(info.CreatedAt) || !subscribes(b.subscriptionsAt(l, e.Seq), e.Type) {
			continue
		}
		d := b.row(l, address{}, notice.Event, b.now, fmt.Sprintf("event/%d/%s", e.Seq, l.info().ID))
		d.TaskID, d.EventSeq = e.TaskID, e.Seq
		b.rows = append(b.rows, d)
	}
}

// subscriptionsAt returns the types of events to which the channel subscribed
// when the event seq happened.
func (b *batch) subscriptionsAt(l *openChannel, seq int64) []string {
	id := l.info().ID
	for _, s := range b.plan.Earlier {
		if s.ChannelID == id && seq <= s.UpTo {
			return s.Types
		}
	}
	return l.subscriptions()
}

// subscriptions returns the types of events to which the channel subscribes.
func (l *openChannel) subscriptions() []string {
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

// progress plans the messages about progress to the members who switched these
// on.
func (b *batch) progress(e *fermata.Event) {
	var d struct {
		Message string `json:"message"`
		Step    string `json:"step"`
	}
	if json.Unmarshal(e.Data, &d) != nil || d.Message == "" {
		return
	}
	for _, s := range b.steps(nil, b.plan.Routes.Progress) {
		info := s.channel.info()
		var members []*fermata.Member
		for _, m := range b.people.members {
			if wishes := b.wishes[m.ID]; m.DisabledAt == nil && wishes.WantsProgress(info.Name, info.Kind) {
				members = append(members, m)
			}
		}
		if len(members) == 0 {
			continue
		}
		for _, a := range b.people.addresses(s.channel.kind, members) {
			row := b.row(s.channel, a, notice.Alert, e.At.Add(s.delay), fmt.Sprintf("progress/%d/%s/%s/%s", e.Seq, info.ID, a.member, a.device))
			row.TaskID, row.When, row.Title, row.Body = e.TaskID, s.when, "Progress", d.Message
			b.rows = append(b.rows, row)
		}
	}
}
