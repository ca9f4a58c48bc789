package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// Whoami is the identity behind a token, with the clock and the version of the server.
type Whoami struct {
	Workspace string            `json:"workspace"`
	Kind      fermata.ActorKind `json:"kind"`
	MemberID  string            `json:"member_id,omitempty"`
	Name      string            `json:"name"`
	Role      fermata.Role      `json:"role"`
	// Projects holds a person's role in single projects.
	Projects map[string]fermata.Role `json:"projects,omitempty"`
	Groups   []string                `json:"groups,omitempty"`
	Scopes   []fermata.Scope         `json:"scopes"`
	// Assurance is how strongly the person behind the token proved who they are.
	Assurance fermata.Assurance `json:"assurance,omitempty"`
	// ServerTime is the clock that decides deadlines.
	ServerTime time.Time `json:"server_time"`
	Version    string    `json:"version"`
}

// NewMember is a person to add to the workspace.
type NewMember struct {
	Handle string       `json:"handle"`
	Name   string       `json:"name,omitempty"`
	Email  string       `json:"email,omitempty"`
	Role   fermata.Role `json:"role"`
	Groups []string     `json:"groups,omitempty"`
	// Projects holds the role in single projects.
	Projects map[string]fermata.Role `json:"projects,omitempty"`
}

// AuditReport is the result of checking the chain of events.
type AuditReport struct {
	Events  int64  `json:"events"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
	// Checkpoints counts the audit checkpoints whose signatures were verified. SignedTo is the last event that they or a
	// trimmed range cover, and PublicKey is the key with which a server verified them. Witnessed counts the checkpoints
	// outside the database that agree with the chain.
	Checkpoints int64  `json:"checkpoints"`
	SignedTo    int64  `json:"signed_to"`
	PublicKey   string `json:"public_key,omitempty"`
	Witnessed   int64  `json:"witnessed"`
	// Signed counts the answers that a passkey signed.
	Signed int64 `json:"signed"`
	// Removed counts the events that retention removed.
	Removed int64 `json:"removed"`
	// First and Last are the first and last event of a check that read the events themselves. Such a check cannot say
	// whether more events follow. Only a witness, or the server that holds the chain, can.
	First *AuditMark `json:"first,omitempty"`
	Last  *AuditMark `json:"last,omitempty"`
}

// AuditMark names an event of the chain.
type AuditMark struct {
	Seq int64     `json:"seq"`
	At  time.Time `json:"at"`
}

// Whoami returns the identity behind the token.
func (c *Client) Whoami(ctx context.Context) (*Whoami, error) {
	return get[*Whoami](ctx, c, path("whoami"), nil)
}

// Ready returns an error unless the server can use its database. The result holds warnings for the operator.
func (c *Client) Ready(ctx context.Context) (*fermata.Readiness, error) {
	return get[*fermata.Readiness](ctx, c, "/readyz", nil)
}

// Policy returns the workspace's policy.
func (c *Client) Policy(ctx context.Context) (fermata.Policy, error) {
	return get[fermata.Policy](ctx, c, path("policies"), nil)
}

// SetPolicy replaces the workspace's policy.
func (c *Client) SetPolicy(ctx context.Context, p fermata.Policy) (fermata.Policy, error) {
	return do[fermata.Policy](ctx, c, call{method: http.MethodPut, path: path("policies"), body: p})
}

// CreateToken creates a token. Only this reply holds its secret.
func (c *Client) CreateToken(ctx context.Context, n fermata.NewToken) (*fermata.Token, error) {
	return post[*fermata.Token](ctx, c, path("tokens"), n)
}

// Tokens returns the workspace's tokens.
func (c *Client) Tokens(ctx context.Context) ([]*fermata.Token, error) {
	p, err := get[page[*fermata.Token]](ctx, c, path("tokens"), nil)
	return p.Items, err
}

// RevokeToken revokes a token.
func (c *Client) RevokeToken(ctx context.Context, id string) (*fermata.Token, error) {
	return do[*fermata.Token](ctx, c, call{method: http.MethodDelete, path: path("tokens", id)})
}

// Members returns the people of the workspace.
func (c *Client) Members(ctx context.Context) ([]*fermata.Member, error) {
	p, err := get[page[*fermata.Member]](ctx, c, path("members"), nil)
	return p.Items, err
}

// AddMember adds a person to the workspace.
func (c *Client) AddMember(ctx context.Context, n NewMember) (*fermata.Member, error) {
	return post[*fermata.Member](ctx, c, path("members"), n)
}

// ChangeMember changes the member with the handle or id.
func (c *Client) ChangeMember(ctx context.Context, member string, ch fermata.MemberChange) (*fermata.Member, error) {
	return do[*fermata.Member](ctx, c, call{method: http.MethodPatch, path: memberPath(member), body: ch})
}

// MakeLink creates a one-time link by which the member with the handle or id signs in to the web. Only this reply
// holds its address.
func (c *Client) MakeLink(ctx context.Context, member string) (*fermata.Link, error) {
	return do[*fermata.Link](ctx, c, call{method: http.MethodPost, path: memberPath(member, "links")})
}

// PasskeysOf returns the passkeys of the member with the handle or id.
func (c *Client) PasskeysOf(ctx context.Context, member string) ([]*fermata.Passkey, error) {
	p, err := get[page[*fermata.Passkey]](ctx, c, memberPath(member, "passkeys"), nil)
	return p.Items, err
}

// SessionsOf returns the browsers in which the member with the handle or id is signed in.
func (c *Client) SessionsOf(ctx context.Context, member string) ([]*fermata.BrowserSession, error) {
	p, err := get[page[*fermata.BrowserSession]](ctx, c, memberPath(member, "sessions"), nil)
	return p.Items, err
}

// DevicesOf returns the browsers that get push messages for the member with the handle or id.
func (c *Client) DevicesOf(ctx context.Context, member string) ([]*fermata.Device, error) {
	p, err := get[page[*fermata.Device]](ctx, c, memberPath(member, "devices"), nil)
	return p.Items, err
}

// RemoveDevice removes a browser, which then gets no push messages. A member may
// remove their own browsers, and an admin may remove any browser.
func (c *Client) RemoveDevice(ctx context.Context, id string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: path("me", "devices", id)})
}

// RemovePasskey removes a passkey.
func (c *Client) RemovePasskey(ctx context.Context, id string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: path("passkeys", id)})
}

// EndSession signs a browser out.
func (c *Client) EndSession(ctx context.Context, id string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: path("sessions", id)})
}

// EndSessionsOf signs the member with the handle or id out of every browser, and returns the number of ended sessions.
func (c *Client) EndSessionsOf(ctx context.Context, member string) (int, error) {
	ended, err := do[struct {
		Ended int `json:"ended"`
	}](ctx, c, call{method: http.MethodDelete, path: memberPath(member, "sessions")})
	return ended.Ended, err
}

// Invite creates a link by which a person becomes a member. Only this reply holds its address.
func (c *Client) Invite(ctx context.Context, n fermata.NewInvitation) (*fermata.Invitation, error) {
	return post[*fermata.Invitation](ctx, c, path("invitations"), n)
}

// memberPath returns the address of a member. Handles may have dots and slashes in them.
func memberPath(member string, below ...string) string {
	if member == "" {
		return ""
	}
	return strings.Join(append([]string{"/v1/members/" + url.PathEscape(member)}, below...), "/")
}

// Projects returns the names of the workspace's projects.
func (c *Client) Projects(ctx context.Context) ([]string, error) {
	type project struct {
		Name string `json:"name"`
	}
	p, err := get[page[project]](ctx, c, path("projects"), nil)
	names := make([]string, 0, len(p.Items))
	for _, item := range p.Items {
		names = append(names, item.Name)
	}
	return names, err
}

// TrimmedRanges returns the first ranges of the chain that end after an event and from which retention removed events. An
// empty list means that there are no more.
func (c *Client) TrimmedRanges(ctx context.Context, after int64) ([]fermata.SignedTrimmedRange, error) {
	v := values{}
	v.setNumber("after", after)
	p, err := get[page[fermata.SignedTrimmedRange]](ctx, c, path("audit", "trimmed-ranges"), url.Values(v))
	return p.Items, err
}

// Retention returns how long the workspace keeps ended work, and what was removed.
func (c *Client) Retention(ctx context.Context) (fermata.Retention, error) {
	return get[fermata.Retention](ctx, c, path("retention"), nil)
}

// VerifyAuditEnd makes the server check the last signed checkpoint of the chain of events, and what follows it.
func (c *Client) VerifyAuditEnd(ctx context.Context) (AuditReport, error) {
	return get[AuditReport](ctx, c, path("audit", "verify"), url.Values{"end_only": {"true"}})
}

// VerifyAudit makes the server check the whole chain of events.
func (c *Client) VerifyAudit(ctx context.Context) (AuditReport, error) {
	return get[AuditReport](ctx, c, path("audit", "verify"), nil)
}
