package fermata

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"
)

// Prefixes of identifiers of what delivery keeps.
const (
	PrefixChannel  = "ch"
	PrefixDelivery = "dlv"
	PrefixDevice   = "dev"
)

// Kinds of channels that are there without having been added.
const (
	// KindPush writes to the browsers that people have allowed it.
	KindPush = "push"
	// KindCallback posts the outcome of questions to those who asked them.
	KindCallback = "callback"
	// KindEmail is there by itself where the server was given an SMTP server.
	KindEmail = "email"
)

// MaxSettings bounds the settings of a channel, in bytes of JSON.
const MaxSettings = 64 << 10

// Channel is a place where people or machines are reached. Its secrets are
// never shown again: SecretsSet names those that it has.
type Channel struct {
	ID          string         `json:"id"`
	WorkspaceID string         `json:"workspace_id"`
	Name        string         `json:"name" doc:"unique in the workspace; what routes and questions name"`
	Kind        string         `json:"kind" doc:"see GET /v1/channel-kinds"`
	Settings    map[string]any `json:"settings"`
	SecretsSet  []string       `json:"secrets_set,omitempty" doc:"secrets that are set; they are never shown"`
	Enabled     bool           `json:"enabled"`
	// BuiltIn channels come with the server, and cannot be removed.
	BuiltIn     bool       `json:"built_in,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	LastSentAt  *time.Time `json:"last_sent_at,omitempty"`
	LastError   string     `json:"last_error,omitempty" doc:"of the last message that could not be sent, or the last test that failed; gone when it works again"`
	LastErrorAt *time.Time `json:"last_error_at,omitempty"`
	// LeftRoutes are told when the channel is removed, renamed or disabled.
	LeftRoutes []string `json:"left_routes,omitempty" doc:"in the answer to a change: steps of routes that lead nowhere now, such as approval[0]"`

	// FailingSince is when the first of the failures was after which nothing
	// was sent any more; AlertedAt when operators were told of it.
	FailingSince *time.Time `json:"-"`
	AlertedAt    *time.Time `json:"-"`
	Version      int64      `json:"-"`
}

// ChannelRemoval is what removing a channel left behind.
type ChannelRemoval struct {
	Name string `json:"name"`
	// LeftRoutes are steps of routes that lead nowhere now.
	LeftRoutes []string `json:"left_routes" doc:"steps of routes that lead nowhere now, such as approval[0]; change them: PUT /v1/routes"`
}

// NewChannel is a request to add a channel.
type NewChannel struct {
	Name     string         `json:"name" minLength:"1" maxLength:"64"`
	Kind     string         `json:"kind" minLength:"1" maxLength:"64"`
	Settings map[string]any `json:"settings,omitempty" doc:"with the secrets; env:NAME and file:/path are read by the server when it opens the channel"`
	Disabled bool           `json:"disabled,omitempty" doc:"added, but not used yet"`
}

// ChannelChange changes what it names.
type ChannelChange struct {
	Name    *string `json:"name,omitempty" minLength:"1" maxLength:"64"`
	Enabled *bool   `json:"enabled,omitempty"`
	// Settings are merged: null takes one away, what is not named stays.
	Settings map[string]any `json:"settings,omitempty" doc:"merged; null takes a setting away"`
}

// ChannelKind describes what channels of a kind need.
type ChannelKind struct {
	Kind    string          `json:"kind"`
	Schema  json.RawMessage `json:"schema" doc:"JSON Schema of the settings"`
	Secrets []string        `json:"secrets" doc:"settings that are never shown"`
	Public  bool            `json:"public" doc:"people who may not read the project can see what is sent"`
	// BuiltIn kinds have one channel, which comes with the server.
	BuiltIn bool `json:"built_in,omitempty"`
}

// ChannelTest is what testing a channel came to.
type ChannelTest struct {
	OK       bool             `json:"ok"`
	Problems []ChannelProblem `json:"problems"`
	// DeliveryID is that of the message which was sent, when one was.
	DeliveryID string `json:"delivery_id,omitempty"`
}

// ChannelProblem is something that keeps a channel from working.
type ChannelProblem struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"what to do about it"`
}

var channelName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$`)

func (ps *problems) channelName(field, name string) {
	if !channelName.MatchString(name) {
		ps.add(field, "is %q: a channel's name has lower-case letters, digits, dots, - and _ in it, at most 64", name)
	}
}

// channels checks a list of names or kinds of channels.
func (ps *problems) channels(field string, names []string) {
	if len(names) > MaxChannels {
		ps.add(field, "has %d channels, may have at most %d", len(names), MaxChannels)
	}
	for i, name := range names {
		ps.channelName(elementName(field, i), name)
		if slices.Contains(names[:i], name) {
			ps.add(elementName(field, i), "%q stands twice", name)
		}
	}
}

// Check reports what is wrong with the request, beside the settings.
func (n NewChannel) Check() error {
	var ps problems
	ps.channelName("name", n.Name)
	ps.channelName("kind", n.Kind)
	ps.settings(n.Settings)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

func (ps *problems) settings(settings map[string]any) {
	if data, err := json.Marshal(settings); err != nil || len(data) > MaxSettings {
		ps.add("settings", "are larger than %d bytes", MaxSettings)
	}
}

// Apply changes the channel, but for its settings, which the kind must accept.
func (ch ChannelChange) Apply(c *Channel) error {
	var ps problems
	if ch.Name != nil && *ch.Name != c.Name {
		ps.channelName("name", *ch.Name)
		if c.BuiltIn {
			ps.add("name", "is fixed: the channel comes with the server")
		}
		c.Name = *ch.Name
	}
	ps.settings(ch.Settings)
	if ch.Enabled != nil {
		c.Enabled = *ch.Enabled
		if c.Enabled {
			c.Works()
		}
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Merge returns the settings with a change in them.
func Merge(settings, change map[string]any) map[string]any {
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

// NoteSent notes that a message went out.
func (c *Channel) NoteSent(now time.Time) {
	c.LastSentAt = &now
	c.Works()
}

// Works notes that nothing is wrong with the channel any more.
func (c *Channel) Works() {
	c.LastError, c.LastErrorAt, c.FailingSince, c.AlertedAt = "", nil, nil, nil
}

// NoteFailure notes that a message did not go out.
func (c *Channel) NoteFailure(now time.Time, why string) {
	c.LastError, c.LastErrorAt = failure(why), &now
	if c.FailingSince == nil {
		c.FailingSince = &now
	}
}

// Alerts of a channel that fails.
const (
	// failsFor is for how long a channel may fail before operators are told,
	// alertAgain how long before they are told again.
	failsFor   = 5 * time.Minute
	alertAgain = 6 * time.Hour
)

// NeedsAlert reports whether operators are to be told that the channel fails.
func (c *Channel) NeedsAlert(now time.Time) bool {
	return c.FailingSince != nil && now.Sub(*c.FailingSince) >= failsFor &&
		(c.AlertedAt == nil || now.Sub(*c.AlertedAt) >= alertAgain)
}
