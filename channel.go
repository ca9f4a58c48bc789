package fermata

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Prefixes of the identifiers of channels, deliveries and devices.
const (
	PrefixChannel  = "ch"
	PrefixDelivery = "dlv"
	PrefixDevice   = "dev"
)

// Kinds of channels that exist without being added.
const (
	// KindPush sends to browsers in which people have allowed notifications.
	KindPush = "push"
	// KindCallback posts the outcome of a question to its asker.
	KindCallback = "callback"
	// KindEmail exists by itself if the server is configured with an SMTP server.
	KindEmail = "email"
)

// MaxSettings is the maximum size of a channel's settings, in bytes of JSON.
const MaxSettings = 64 << 10

// Channel is a configured way to reach people or machines. Its secrets are
// never shown; SecretsSet names the secrets that it has.
type Channel struct {
	ID          string         `json:"id"`
	WorkspaceID string         `json:"workspace_id"`
	Name        string         `json:"name" doc:"unique in the workspace; what routes and questions name"`
	Kind        string         `json:"kind" doc:"see GET /v1/channel-kinds"`
	Settings    map[string]any `json:"settings"`
	SecretsSet  []string       `json:"secrets_set,omitempty" doc:"secrets that are set; they are never shown"`
	Enabled     bool           `json:"enabled"`
	// BuiltIn reports whether the channel comes with the server. Such a channel
	// cannot be removed.
	BuiltIn     bool       `json:"built_in,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	LastSentAt  *time.Time `json:"last_sent_at,omitempty"`
	LastError   string     `json:"last_error,omitempty" doc:"of the last message that could not be sent, or the last test that failed; gone when it works again"`
	LastErrorAt *time.Time `json:"last_error_at,omitempty"`
	// UnmatchedRouteSteps lists the route steps that match no enabled channel after this
	// channel was removed, renamed or disabled.
	UnmatchedRouteSteps []string `json:"left_routes,omitempty" doc:"in the answer to a change: steps of routes that lead nowhere now, such as approval[0]"`

	// FailingSince is the instant of the first failure since the channel last
	// worked. AlertedAt is the instant of the last alert to operators.
	FailingSince *time.Time `json:"-"`
	AlertedAt    *time.Time `json:"-"`
	Version      int64      `json:"-"`
}

// ChannelRemoval is the result of removing a channel.
type ChannelRemoval struct {
	Name string `json:"name"`
	// UnmatchedRouteSteps lists the route steps that match no enabled channel after the removal.
	UnmatchedRouteSteps []string `json:"left_routes" doc:"steps of routes that lead nowhere now, such as approval[0]; change them: PUT /v1/routes"`
}

// NewChannel is a request to add a channel.
type NewChannel struct {
	Name     string         `json:"name" minLength:"1" maxLength:"64"`
	Kind     string         `json:"kind" minLength:"1" maxLength:"64"`
	Settings map[string]any `json:"settings,omitempty" doc:"with the secrets; env:NAME and file:/path are read by the server when it opens the channel"`
	Disabled bool           `json:"disabled,omitempty" doc:"added, but not used yet"`
}

// ChannelChange is a request to change a channel. A nil field leaves its value as it is.
type ChannelChange struct {
	Name    *string `json:"name,omitempty" minLength:"1" maxLength:"64"`
	Enabled *bool   `json:"enabled,omitempty"`
	// Settings are merged with the current ones. A null removes a setting; a
	// setting that is not named stays.
	Settings map[string]any `json:"settings,omitempty" doc:"merged; null takes a setting away"`
}

// ChannelKind describes the settings that a kind of channel needs.
type ChannelKind struct {
	Kind    string          `json:"kind"`
	Schema  json.RawMessage `json:"schema" doc:"JSON Schema of the settings"`
	Secrets []string        `json:"secrets" doc:"settings that are never shown"`
	Public  bool            `json:"public" doc:"people who may not read the project can see what is sent"`
	// BuiltIn reports whether the kind has exactly one channel, which comes
	// with the server.
	BuiltIn bool `json:"built_in,omitempty"`
}

// ChannelTest is the result of testing a channel.
type ChannelTest struct {
	OK       bool             `json:"ok"`
	Problems []ChannelProblem `json:"problems"`
	// DeliveryID is the id of the test message, if one was sent.
	DeliveryID string `json:"delivery_id,omitempty"`
}

// ChannelProblem is a problem that keeps a channel from working.
type ChannelProblem struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"what to do about it"`
}

var channelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$`)
})

func (ps *problems) checkChannelName(field, name string) {
	if !channelName().MatchString(name) {
		ps.add(field, "is %q: a channel's name has lower-case letters, digits, dots, - and _ in it, at most 64", name)
	}
}

// checkChannels checks a list of names or kinds of channels.
func (ps *problems) checkChannels(field string, names []string) {
	if len(names) > MaxChannels {
		ps.add(field, "has %d channels, may have at most %d", len(names), MaxChannels)
	}
	for i, name := range names {
		ps.checkChannelName(elementName(field, i), name)
		if slices.Contains(names[:i], name) {
			ps.add(elementName(field, i), "%q stands twice", name)
		}
	}
}

// Check returns an error that lists every problem of the request. It does not
// check the settings against their kind.
func (n NewChannel) Check() error {
	var ps problems
	ps.checkChannelName("name", n.Name)
	ps.checkChannelName("kind", n.Kind)
	ps.checkSettings(n.Settings)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

func (ps *problems) checkSettings(settings map[string]any) {
	if data, err := json.Marshal(settings); err != nil || len(data) > MaxSettings {
		ps.add("settings", "are larger than %d bytes", MaxSettings)
	}
}

// Apply changes the name of the channel and whether it is enabled. It does not
// change the settings, because the kind must accept them first.
func (ch ChannelChange) Apply(c *Channel) error {
	var ps problems
	if ch.Name != nil && *ch.Name != c.Name {
		ps.checkChannelName("name", *ch.Name)
		if c.BuiltIn {
			ps.add("name", "is fixed: the channel comes with the server")
		}
		c.Name = *ch.Name
	}
	ps.checkSettings(ch.Settings)
	if ch.Enabled != nil {
		c.Enabled = *ch.Enabled
		if c.Enabled {
			c.NoteWorking()
		}
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// MergeSettings returns a copy of the settings with a change applied. A nil value
// removes the setting.
func MergeSettings(settings, change map[string]any) map[string]any {
	merged := make(map[string]any, len(settings)+len(change))
	for name, value := range settings {
		merged[name] = value
	}
	for name, value := range change {
		if value == nil {
			delete(merged, name)
			continue
		}
		merged[name] = value
	}
	return merged
}

// NoteSent records that a message was sent at the instant now.
func (c *Channel) NoteSent(now time.Time) {
	c.LastSentAt = &now
	c.NoteWorking()
}

// NoteWorking records that the channel works, and clears its errors.
func (c *Channel) NoteWorking() {
	c.LastError, c.LastErrorAt, c.FailingSince, c.AlertedAt = "", nil, nil, nil
}

// NoteFailure records that a message could not be sent, and why.
func (c *Channel) NoteFailure(now time.Time, reason string) {
	c.LastError, c.LastErrorAt = storedErrorText(reason), &now
	if c.FailingSince == nil {
		c.FailingSince = &now
	}
}

// Times of the alerts for a failing channel.
const (
	// alertDelay is the time for which a channel may fail before operators get an
	// alert. alertInterval is the time until the next alert.
	alertDelay    = 5 * time.Minute
	alertInterval = 6 * time.Hour
)

// NeedsAlert reports whether operators must get an alert that the channel fails.
func (c *Channel) NeedsAlert(now time.Time) bool {
	return c.FailingSince != nil && now.Sub(*c.FailingSince) >= alertDelay &&
		(c.AlertedAt == nil || now.Sub(*c.AlertedAt) >= alertInterval)
}
