package fermata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of routes.
const (
	// MaxChannels is the most channels that a question or a level may name.
	MaxChannels = 20
	// MaxRouteSteps is the most steps that a route may have.
	MaxRouteSteps = 20
	// MaxReminders is the most reminders that a question may have.
	MaxReminders = 10
	// maxDelay is the longest delay of a step or a reminder.
	maxDelay = 30 * 24 * time.Hour
)

// RouteCondition is the condition of a route step.
type RouteCondition string

// Conditions of route steps.
const (
	// WhenAlways sends in every case.
	WhenAlways RouteCondition = "always"
	// WhenPageClosed sends to people without an open Fermata page. People with
	// an open page see the question there.
	WhenPageClosed RouteCondition = "page_closed"
)

// RouteStep is one step of a route: the channel that sends a question, if nobody answers the question within the
// delay.
type RouteStep struct {
	// After is the delay, counted from asking. "0s" means at once.
	After   string         `json:"after" doc:"from asking: 0s, 30s, 5m, 1h"`
	Channel string         `json:"channel" doc:"the name of a channel, or a kind that stands for all of its channels"`
	When    RouteCondition `json:"when,omitempty" enum:"always,page_closed" doc:"default always"`
}

// Delay returns the delay of the step.
func (s RouteStep) Delay() time.Duration {
	d, err := parseDelay(s.After)
	if err != nil {
		// This cannot happen, because routes are checked when they are set.
		return 0
	}
	return d
}

// Routes say when and over which channels a question is sent, by its type.
// Progress is sent only to people who switched it on for themselves.
type Routes struct {
	Blocking      []RouteStep `json:"blocking"`
	Approval      []RouteStep `json:"approval"`
	ErrorRecovery []RouteStep `json:"error_recovery"`
	NonBlocking   []RouteStep `json:"non_blocking"`
	Progress      []RouteStep `json:"progress"`
}

// DefaultRoutes returns the routes of docs/inside/contract.md#routes. A step
// whose channel does not exist is skipped.
func DefaultRoutes() Routes {
	urgent := func() []RouteStep {
		return []RouteStep{
			{After: "30s", Channel: KindPush, When: WhenPageClosed},
			{After: "5m", Channel: KindEmail, When: WhenAlways},
			{After: "5m", Channel: "slack", When: WhenAlways},
		}
	}
	push := RouteStep{After: "0s", Channel: KindPush, When: WhenPageClosed}
	return Routes{
		Blocking: urgent(), Approval: urgent(),
		ErrorRecovery: []RouteStep{{After: "30s", Channel: KindPush, When: WhenPageClosed}},
		NonBlocking:   []RouteStep{push}, Progress: []RouteStep{push},
	}
}

// ForType returns the route for a type of question.
func (r Routes) ForType(t QuestionType) []RouteStep {
	switch t {
	case Approval:
		return r.Approval
	case ErrorRecovery:
		return r.ErrorRecovery
	case NonBlocking:
		return r.NonBlocking
	default:
		return r.Blocking
	}
}

// namedRoute is the route of one type, with the name of the type.
type namedRoute struct {
	name  string
	steps []RouteStep
}

func (r Routes) namedRoutes() []namedRoute {
	return []namedRoute{
		{"blocking", r.Blocking},
		{"approval", r.Approval},
		{"error_recovery", r.ErrorRecovery},
		{"non_blocking", r.NonBlocking},
		{"progress", r.Progress},
	}
}

// CheckChannels returns an error if a step names an unknown channel. The
// argument known must hold the names of the channels and the kinds that the
// server supports.
func (r Routes) CheckChannels(known []string) error {
	var ps problems
	for _, route := range r.namedRoutes() {
		for i, s := range route.steps {
			if !slices.Contains(known, s.Channel) {
				ps.add(elementName(route.name, i)+".channel", "there is no channel %q here", s.Channel)
			}
		}
	}
	if len(ps) > 0 {
		return Invalid(ps...).WithHint("there are: %s; an admin adds channels: fermata channel add", strings.Join(known, ", "))
	}
	return nil
}

// UnmatchedSteps returns the steps, such as approval[0], that name one of the
// names but match none of the enabled channels.
func (r Routes) UnmatchedSteps(names []string, channels []*Channel) []string {
	var steps []string
	for _, route := range r.namedRoutes() {
		for i, s := range route.steps {
			isMatched := slices.ContainsFunc(channels, func(c *Channel) bool { return c.Enabled && (c.Name == s.Channel || c.Kind == s.Channel) })
			if slices.Contains(names, s.Channel) && !isMatched {
				steps = append(steps, elementName(route.name, i))
			}
		}
	}
	return steps
}

// RenameChannel returns the routes with the new name of a channel, and whether any step named it.
func (r Routes) RenameChannel(from, to string) (Routes, bool) {
	found := false
	renameIn := func(steps []RouteStep) []RouteStep {
		steps = slices.Clone(steps)
		for i := range steps {
			if steps[i].Channel == from {
				steps[i].Channel, found = to, true
			}
		}
		return steps
	}
	return Routes{
		Blocking: renameIn(r.Blocking), Approval: renameIn(r.Approval), ErrorRecovery: renameIn(r.ErrorRecovery),
		NonBlocking: renameIn(r.NonBlocking), Progress: renameIn(r.Progress),
	}, found
}

// Check returns an error that lists every problem of the routes.
func (r Routes) Check() error {
	var ps problems
	for _, route := range r.namedRoutes() {
		if len(route.steps) > MaxRouteSteps {
			ps.add(route.name, "has %d steps, may have at most %d", len(route.steps), MaxRouteSteps)
		}
		for i, s := range route.steps {
			s.check(&ps, elementName(route.name, i))
		}
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

func (s RouteStep) check(ps *problems, prefix string) {
	if _, err := parseDelay(s.After); err != nil {
		ps.addError(prefix+".after", err)
	}
	ps.checkChannelName(prefix+".channel", s.Channel)
	ps.checkOneOf(prefix+".when", string(s.When), []string{string(WhenAlways), string(WhenPageClosed)})
}

// parseDelay parses the length of a wait. "0s" means no wait.
func parseDelay(s string) (time.Duration, error) {
	d, err := parseDuration(s)
	if err != nil || d < 0 || d > maxDelay {
		return 0, fmt.Errorf(`%q is no delay: write a number and a unit, such as "0s", "30s", "5m" or "2h", up to 30 days`, s)
	}
	return d, nil
}

// elementName returns the name of a list element for use in problems.
func elementName(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// WantedPlace returns the place in the channel's system where the asker wants the
// question. It is in the metadata under the name of the channel, under its
// kind, or under its kind followed by _issue.
func (q *Question) WantedPlace(channel, kind string) string {
	return cmp.Or(q.Metadata[channel], q.Metadata[kind], q.Metadata[kind+"_issue"])
}

// MailAddresses returns the addresses that should get mail about the question, among
// the people who may answer it. An empty list means all of them.
func (q *Question) MailAddresses(channel string) []string {
	return strings.FieldsFunc(cmp.Or(q.Metadata[channel], q.Metadata[KindEmail]), func(r rune) bool { return r == ',' || r == ' ' })
}

// MentionedNames returns names that a message to a place of the channel should
// mention, beside the people whom the question is for. They are in the metadata
// under the channel's name or kind, followed by _mention.
func (q *Question) MentionedNames(channel, kind string) []string {
	return strings.FieldsFunc(cmp.Or(q.Metadata[channel+"_mention"], q.Metadata[kind+"_mention"]), func(r rune) bool { return r == ',' || r == ' ' })
}
