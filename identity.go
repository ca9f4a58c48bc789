package fermata

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Identity is who a member is in the system behind a kind of channels: a Slack
// user, a GitHub login.
type Identity struct {
	Kind     string `json:"kind"`
	ID       string `json:"id" doc:"the id in that system"`
	Name     string `json:"name,omitempty" doc:"what people call it there"`
	MemberID string `json:"member_id"`
	Member   string `json:"member,omitempty" doc:"the member's handle"`

	CreatedAt time.Time `json:"created_at"`
}

// Check reports what is wrong with the identity.
func (i Identity) Check() error {
	var ps problems
	ps.channelName("kind", i.Kind)
	ps.text("id", i.ID, 1, 200)
	ps.text("name", i.Name, 0, 200)
	if strings.TrimSpace(i.ID) != i.ID || strings.ContainsAny(i.ID, "\r\n\x00") {
		ps.add("id", "may have no line break and no space around it")
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Device is a browser to which a member lets messages be pushed.
type Device struct {
	ID       string    `json:"id"`
	MemberID string    `json:"member_id"`
	Name     string    `json:"name"`
	AddedAt  time.Time `json:"added_at"`
	// LastSentAt is when a message was last pushed to it.
	LastSentAt *time.Time `json:"last_sent_at,omitempty"`
	// Endpoint is the host of the push service.
	Endpoint string `json:"endpoint" doc:"host of the push service"`

	// Subscription is what the browser gave (W3C Push API): whoever has it can
	// push to the device, so it is not shown.
	Subscription PushSubscription `json:"-"`
}

// PushSubscription is what a browser gives for pushing to it (W3C Push API).
type PushSubscription struct {
	Endpoint string   `json:"endpoint" minLength:"1" maxLength:"2000"`
	Keys     PushKeys `json:"keys"`
	// ExpirationTime is sent by browsers; nothing depends on it.
	ExpirationTime json.RawMessage `json:"expirationTime,omitempty"`
}

// PushKeys are the keys to which a message is encrypted, in base64url.
type PushKeys struct {
	P256DH string `json:"p256dh" minLength:"1" maxLength:"200"`
	Auth   string `json:"auth" minLength:"1" maxLength:"100"`
}

// NewDevice is a request to push to a browser.
type NewDevice struct {
	Subscription PushSubscription `json:"subscription"`
	Name         string           `json:"name,omitempty" maxLength:"100"`
}

// Check reports what is wrong with the request.
func (n NewDevice) Check() error {
	var ps problems
	ps.text("name", n.Name, 0, 100)
	if !slices.ContainsFunc([]string{"https://", "http://"}, func(p string) bool { return strings.HasPrefix(n.Subscription.Endpoint, p) }) {
		ps.add("subscription.endpoint", "must be the address of a push service")
	}
	ps.text("subscription.endpoint", n.Subscription.Endpoint, 1, 2000)
	ps.text("subscription.keys.p256dh", n.Subscription.Keys.P256DH, 1, 200)
	ps.text("subscription.keys.auth", n.Subscription.Keys.Auth, 1, 100)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}
