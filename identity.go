package fermata

import (
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// IdentityOIDC is the kind of an identity at the server's OpenID Connect provider. Its id is the issuer and the
// subject, separated by a space.
const IdentityOIDC = "oidc"

// Identity is a member's account in the system behind a kind of channel, such
// as a Slack user or a GitHub login.
type Identity struct {
	Kind     string `json:"kind"`
	ID       string `json:"id" doc:"the id in that system"`
	Name     string `json:"name,omitempty" doc:"what people call it there"`
	MemberID string `json:"member_id"`
	Member   string `json:"member,omitempty" doc:"the member's handle"`

	CreatedAt time.Time `json:"created_at"`
}

// Check returns an error that lists every problem of the identity.
func (i Identity) Check() error {
	var ps problems
	ps.checkChannelName("kind", i.Kind)
	ps.checkText("id", i.ID, 1, 200)
	ps.checkText("name", i.Name, 0, 200)
	if strings.TrimSpace(i.ID) != i.ID || strings.ContainsAny(i.ID, "\r\n\x00") {
		ps.add("id", "may have no line break and no space around it")
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Device is a browser to which a member allows push messages.
type Device struct {
	ID       string    `json:"id"`
	MemberID string    `json:"member_id"`
	Name     string    `json:"name"`
	AddedAt  time.Time `json:"added_at"`
	// LastSentAt is the instant of the last push to the device.
	LastSentAt *time.Time `json:"last_sent_at,omitempty"`
	// Endpoint is the host of the push service.
	Endpoint string `json:"endpoint" doc:"host of the push service"`

	// Subscription comes from the browser (W3C Push API). Anyone who has it can
	// push to the device, so it is never shown.
	Subscription PushSubscription `json:"-"`
	// Holder is the id of the session or the token that added the device. The device ends with it. It is empty if the
	// server has no sign-in, and for devices that earlier versions stored.
	Holder string `json:"-"`
}

// IsHeldByToken reports whether the device was added with a token, and not in a
// browser session.
func (d *Device) IsHeldByToken() bool { return IsID(PrefixToken, d.Holder) }

// PushSubscription is the subscription that a browser creates for push messages
// (W3C Push API).
type PushSubscription struct {
	Endpoint string   `json:"endpoint" minLength:"1" maxLength:"2000"`
	Keys     PushKeys `json:"keys"`
	// ExpirationTime is sent by browsers. Fermata does not use it.
	ExpirationTime json.RawMessage `json:"expirationTime,omitempty"`
}

// PushKeys are the keys that encrypt a message to the device, in base64url.
type PushKeys struct {
	P256DH string `json:"p256dh" minLength:"1" maxLength:"200"`
	Auth   string `json:"auth" minLength:"1" maxLength:"100"`
}

// NewDevice is a request to push messages to a browser.
type NewDevice struct {
	Subscription PushSubscription `json:"subscription"`
	Name         string           `json:"name,omitempty" maxLength:"100"`
}

// Check returns an error that lists every problem of the request.
func (n NewDevice) Check() error {
	var ps problems
	ps.checkText("name", n.Name, 0, 100)
	n.Subscription.check(&ps)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// pushSecret is the length of a device's secret in bytes.
const pushSecret = 16

// check refuses values that no browser sends: an address that is not a push
// service, or keys that cannot encrypt.
func (s PushSubscription) check(ps *problems) {
	ps.checkText("subscription.endpoint", s.Endpoint, 1, 2000)
	if !isPushService(s.Endpoint) {
		ps.add("subscription.endpoint", "must be the https address of a push service, with the name of its host")
	}
	if _, err := ecdh.P256().NewPublicKey(pushKey(s.Keys.P256DH)); err != nil {
		ps.add("subscription.keys.p256dh", "must be a point of P-256 in base64url")
	}
	if len(pushKey(s.Keys.Auth)) != pushSecret {
		ps.add("subscription.keys.auth", "must be %d bytes in base64url", pushSecret)
	}
}

// isPushService reports whether an address may be a push service. It allows a
// loopback address for tests. Each connection checks again whether the server
// may reach the address.
func isPushService(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() == "localhost" || err == nil && addr.IsLoopback() {
		return u.Scheme == "https" || u.Scheme == "http"
	}
	return u.Scheme == "https" && err != nil && strings.Contains(u.Hostname(), ".")
}

// pushKey decodes a key in URL-safe or standard base64, with or without
// padding. It returns nil if the key is not valid.
func pushKey(text string) []byte {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}
