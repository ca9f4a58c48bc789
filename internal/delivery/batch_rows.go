package delivery

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// routeStep is one step of a route: a channel, a delay and a condition.
type routeStep struct {
	channel *openChannel
	delay   time.Duration
	when    fermata.RouteCondition
	// named reports whether the question itself names the channel.
	named bool
}

// resolveSteps returns the steps for a question: the channels that the question names,
// then its route. A channel that is in both is used once, with the shorter
// delay.
func (b *batch) resolveSteps(named []string, route []fermata.RouteStep) []routeStep {
	var all []routeStep
	add := func(s routeStep) {
		i := slices.IndexFunc(all, func(other routeStep) bool { return other.channel == s.channel })
		switch {
		case i < 0:
			all = append(all, s)
		case s.delay < all[i].delay:
			all[i] = s
		}
	}
	for _, name := range named {
		for _, ch := range channelsNamed(b.channels, name) {
			add(routeStep{channel: ch, when: fermata.WhenAlways, named: true})
		}
	}
	for _, r := range route {
		for _, ch := range channelsNamed(b.channels, r.Channel) {
			add(routeStep{channel: ch, delay: r.Delay(), when: r.When})
		}
	}
	return all
}

// planAsked plans the deliveries for a new question: the messages along its route,
// the reminders, and a check whether one of them arrived.
func (b *batch) planAsked(q *fermata.Question, e *fermata.Event) {
	steps := b.resolveSteps(q.Channels, b.plan.Routes.ForType(q.Type))
	members := b.people.eligibleMembers(q)
	for _, s := range steps {
		b.planMessages(q, s, members, notice.Asked, e.At.Add(s.delay), "asked")
		for i, after := range q.ReminderDelays() {
			if at := e.At.Add(after); after > s.delay && (q.Deadline == nil || at.Before(*q.Deadline)) {
				b.planMessages(q, s, members, notice.Reminder, at, fmt.Sprintf("reminder%d", i))
			}
		}
	}
	b.planReminderCheck(q)
	reason := b.unreachedReason(q, steps, members, e.At)
	b.setUnreached(q, reason)
	switch {
	case q.Type.Urgency() != fermata.UrgencyHigh:
	case reason == "":
		b.planArrivalCheck(q, steps, e)
	default:
		b.alarms = append(b.alarms, q)
	}
}

// planEscalated plans the deliveries for a question that reaches its next escalation level. The people whom the level
// adds are told at once.
func (b *batch) planEscalated(q *fermata.Question, e *fermata.Event) {
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
	levelQuestion := *q
	if len(level.Assignees) > 0 {
		levelQuestion.Assignees = level.Assignees
	}
	members := b.people.eligibleMembers(&levelQuestion)
	for _, s := range b.resolveSteps(level.Channels, b.plan.Routes.ForType(q.Type)) {
		b.planMessages(q, routeStep{channel: s.channel, when: fermata.WhenAlways, named: s.named}, members, notice.Escalated, e.At, fmt.Sprintf("level%d", at.Level))
	}
}

// planAssigned plans the deliveries to the people to whom a question was assigned.
func (b *batch) planAssigned(q *fermata.Question, e *fermata.Event) {
	members := b.people.eligibleMembers(q)
	for _, s := range b.resolveSteps(q.Channels, b.plan.Routes.ForType(q.Type)) {
		if s.channel.kind.Audience == ToPlace {
			continue
		}
		// A person who was asked before is not asked again, because the key of
		// the delivery is the same.
		b.planMessages(q, s, members, notice.Asked, e.At.Add(s.delay), "asked")
	}
}

// planMessages plans one message for each address of the members over a channel.
func (b *batch) planMessages(q *fermata.Question, s routeStep, members []*fermata.Member, purpose notice.Purpose, at time.Time, keyPart string) {
	info := s.channel.info()
	for _, a := range b.people.questionAddresses(q, s.channel, members) {
		d := b.newDelivery(s.channel, a, purpose, at, fmt.Sprintf("%s/%s/%s/%s/%s", q.ID, keyPart, info.ID, a.member, a.device))
		d.QuestionID, d.TaskID, d.Condition, d.WantedEvent = q.ID, q.TaskID, s.when, b.head
		prefs := b.preferences[a.member]
		if a.member != "" && !s.named && !prefs.Wants(info.Name, info.Kind, q.Type) {
			continue
		}
		if next, hasDigest := prefs.NextDigest(at); a.member != "" && hasDigest && !s.named && q.Type.Urgency() == fermata.UrgencyLow {
			d.Purpose, d.Reason, d.NextAt = string(notice.Digest), fermata.WaitsForDigest, &next
		}
		b.rows = append(b.rows, d)
		if purpose != notice.Asked || keyPart != "asked" || q.EscalationLevel > 0 {
			b.setUnreached(q, "")
		}
	}
}

// newDelivery returns a new delivery in the state waiting, which is due at the instant at.
func (b *batch) newDelivery(ch *openChannel, a address, purpose notice.Purpose, at time.Time, unique string) *fermata.Delivery {
	at = fermata.TruncateTime(at)
	info := ch.info()
	return &fermata.Delivery{
		ID: fermata.NewID(fermata.PrefixDelivery, b.now), ChannelID: info.ID, Kind: info.Kind, MemberID: a.member,
		Purpose: string(purpose), State: fermata.DeliveryWaiting, NextAt: &at, CreatedAt: b.now,
		DeliveryInternals: fermata.DeliveryInternals{UniqueKey: unique, DeviceID: a.device, Condition: fermata.WhenAlways},
	}
}

// planForSubscribers plans the delivery of an event to every channel that subscribes to its type.
func (b *batch) planForSubscribers(e *fermata.Event) {
	for _, ch := range b.channels {
		if info := ch.info(); e.At.Before(info.CreatedAt) || !isSubscribed(b.subscriptionsAt(ch, e.Seq), e.Type) {
			continue
		}
		d := b.newDelivery(ch, address{}, notice.Event, b.now, fmt.Sprintf("event/%d/%s", e.Seq, ch.info().ID))
		d.TaskID, d.EventSeq = e.TaskID, e.Seq
		b.rows = append(b.rows, d)
	}
}

// subscriptionsAt returns the types of events to which the channel subscribed
// when the event seq happened.
func (b *batch) subscriptionsAt(ch *openChannel, seq int64) []string {
	id := ch.info().ID
	for _, s := range b.plan.Earlier {
		if s.ChannelID == id && seq <= s.UpTo {
			return s.Types
		}
	}
	return ch.subscriptions()
}

// subscriptions returns the types of events to which the channel subscribes.
func (ch *openChannel) subscriptions() []string {
	info := ch.info()
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

func isSubscribed(types []string, t fermata.EventType) bool {
	return slices.Contains(types, "*") || slices.Contains(types, string(t))
}

// planProgress plans the messages about progress to the members who switched these
// on.
func (b *batch) planProgress(e *fermata.Event) {
	var d struct {
		Message string `json:"message"`
		Step    string `json:"step"`
	}
	if json.Unmarshal(e.Data, &d) != nil || d.Message == "" {
		return
	}
	for _, s := range b.resolveSteps(nil, b.plan.Routes.Progress) {
		info := s.channel.info()
		var members []*fermata.Member
		for _, m := range b.people.members {
			if prefs := b.preferences[m.ID]; m.DisabledAt == nil && prefs.WantsProgress(info.Name, info.Kind) {
				members = append(members, m)
			}
		}
		if len(members) == 0 {
			continue
		}
		for _, a := range b.people.addresses(s.channel.kind, members) {
			row := b.newDelivery(s.channel, a, notice.Alert, e.At.Add(s.delay), fmt.Sprintf("progress/%d/%s/%s/%s", e.Seq, info.ID, a.member, a.device))
			row.TaskID, row.Condition, row.Title, row.Body = e.TaskID, s.when, "Progress", d.Message
			b.rows = append(b.rows, row)
		}
	}
}
