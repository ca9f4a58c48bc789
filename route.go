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
	// MaxChannels is how many channels a question or a level may name.
	MaxChannels = 20
	// MaxRouteSteps is how many steps a route may have.
	MaxRouteSteps = 20
	// MaxReminders is how many reminders a question may have.
	MaxReminders = 10
	// longestDelay bounds the delay of a step and of a reminder.
	longestDelay = 30 * 24 * time.Hour
)

// RouteWhen is the condition of a step.
type RouteWhen string

// Conditions of steps.
const (
	// WhenAlways sends in any case.
	WhenAlways RouteWhen = "always"
	// WhenPageClosed sends to whom the question is not shown already: people
	// who have a page of Fermata open see it there.
	WhenPageClosed RouteWhen = "page_closed"
)

// RouteStep says where a question goes when nobody has answered it.
type RouteStep struct {
	// After is the delay from asking; "0s" is at once.
	After   string    `json:"after" doc:"from asking: 0s, 30s, 5m, 1h"`
	Channel string    `json:"channel" doc:"the name of a channel, or a kind that stands for all of its channels"`
	When    RouteWhen `json:"when,omitempty" enum:"always,page_closed" doc:"default always"`
}

// Delay returns the delay of the step.
func (s RouteStep) Delay() time.Duration {
	d, err := delay(s.After)
	if err != nil {
		// Routes are checked when they are set.
		return 0
	}
	return d
}

// Routes say by type of question where it goes, and when. Progress goes where
// people have switched it on for themselves.
type Routes struct {
	Blocking      []RouteStep `json:"blocking"`
	Approval      []RouteStep `json:"approval"`
	ErrorRecovery []RouteStep `json:"error_recovery"`
	NonBlocking   []RouteStep `json:"non_blocking"`
	Progress      []RouteStep `json:"progress"`
}

// DefaultRoutes are those of spec §5. A step whose channel is not there is
// passed over.
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

// ForType returns the route of a type of questions.
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

// namedRoute is the route of one type.
type namedRoute struct {
	name  string
	steps []RouteStep
}

func (r Routes) list() []namedRoute {
	return []namedRoute{
		{"blocking", r.Blocking},
		{"approval", r.Approval},
		{"error_recovery", r.ErrorRecovery},
		{"non_blocking", r.NonBlocking},
		{"progress", r.Progress},
	}
}

// CheckChannels refuses steps that name a channel which is not among the known
// ones: names of channels, and kinds that the server has.
func (r Routes) CheckChannels(known []string) error {
	var ps problems
	for _, route := range r.list() {
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

// LeadingNowhere lists the steps among those that name one of the names which
// lead to none of the channels, such as approval[0].
func (r Routes) LeadingNowhere(names []string, channels []*Channel) []string {
	var steps []string
	for _, route := range r.list() {
		for i, s := range route.steps {
			leads := slices.ContainsFunc(channels, func(c *Channel) bool { return c.Enabled && (c.Name == s.Channel || c.Kind == s.Channel) })
			if slices.Contains(names, s.Channel) && !leads {
				steps = append(steps, elementName(route.name, i))
			}
		}
	}
	return steps
}

// Rename returns the routes with a channel under its new name, and whether any
// step named it.
func (r Routes) Rename(from, to string) (Routes, bool) {
	found := false
	renamed := func(steps []RouteStep) []RouteStep {
		steps = slices.Clone(steps)
		for i := range steps {
			if steps[i].Channel == from {
				steps[i].Channel, found = to, true
			}
		}
		return steps
	}
	return Routes{
		Blocking: renamed(r.Blocking), Approval: renamed(r.Approval), ErrorRecovery: renamed(r.ErrorRecovery),
		NonBlocking: renamed(r.NonBlocking), Progress: renamed(r.Progress),
	}, found
}

// Check reports what is wrong with the routes.
func (r Routes) Check() error {
	var ps problems
	for _, route := range r.list() {
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

func (s RouteStep) check(ps *problems, at string) {
	if _, err := delay(s.After); err != nil {
		ps.add(at+".after", "%s", err)
	}
	ps.channelName(at+".channel", s.Channel)
	ps.oneOf(at+".when", string(s.When), []string{string(WhenAlways), string(WhenPageClosed)})
}

// delay reads how long to wait; "0s" is not at all.
func delay(s string) (time.Duration, error) {
	d, err := parseDuration(s)
	if err != nil || d < 0 || d > longestDelay {
		return 0, fmt.Errorf(`%q is no delay: write a number and a unit, such as "0s", "30s", "5m" or "2h", up to 30 days`, s)
	}
	return d, nil
}

// elementName returns how a problem names an element of a list.
func elementName(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// Target is where in the system behind a channel the asker wants the question:
// what the metadata say under the name or the kind of the channel, or under the
// kind with _issue behind it.
func (q *Question) Target(channel, kind string) string {
	return cmp.Or(q.Metadata[channel], q.Metadata[kind], q.Metadata[kind+"_issue"])
}

// MailTo lists the addresses to which mail about the question goes, of those
// that may answer it; none stands for all of them.
func (q *Question) MailTo(channel string) []string {
	return strings.FieldsFunc(cmp.Or(q.Metadata[channel], q.Metadata[KindEmail]), func(r rune) bool { return r == ',' || r == ' ' })
}

// Mentioned lists whom a message to a place of a channel mentions, beside the
// people whom the question is for: what the metadata say under its name or its
// kind with _mention behind it.
func (q *Question) Mentioned(channel, kind string) []string {
	return strings.FieldsFunc(cmp.Or(q.Metadata[channel+"_mention"], q.Metadata[kind+"_mention"]), func(r rune) bool { return r == ',' || r == ' ' })
}
