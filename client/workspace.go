package client

import (
	"context"
	"net/http"
	"time"

	"github.com/fermata-hq/fermata"
)

// Whoami is who the token is for, and the server's own state.
type Whoami struct {
	Workspace string            `json:"workspace"`
	Kind      fermata.ActorKind `json:"kind"`
	Name      string            `json:"name"`
	Role      fermata.Role      `json:"role"`
	Scopes    []fermata.Scope   `json:"scopes"`
	// ServerTime is the clock that decides deadlines.
	ServerTime time.Time `json:"server_time"`
	Version    string    `json:"version"`
}

// NewMember is a person to add to the workspace.
type NewMember struct {
	Handle string       `json:"handle"`
	Role   fermata.Role `json:"role"`
	Groups []string     `json:"groups,omitempty"`
}

// AuditReport says whether the chain of events is whole.
type AuditReport struct {
	Events  int64  `json:"events"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

// Whoami returns who the token is for.
func (c *Client) Whoami(ctx context.Context) (*Whoami, error) {
	return get[*Whoami](ctx, c, path("whoami"), nil)
}

// Ready reports whether the server can read and write its database.
func (c *Client) Ready(ctx context.Context) error {
	return c.run(ctx, call{method: http.MethodGet, path: "/readyz"})
}

// Policy returns the workspace's policy.
func (c *Client) Policy(ctx context.Context) (fermata.Policy, error) {
	return get[fermata.Policy](ctx, c, path("policies"), nil)
}

// SetPolicy replaces the workspace's policy.
func (c *Client) SetPolicy(ctx context.Context, p fermata.Policy) (fermata.Policy, error) {
	return do[fermata.Policy](ctx, c, call{method: http.MethodPut, path: path("policies"), body: p})
}

// CreateToken makes a token. The reply is the only one that holds its secret.
func (c *Client) CreateToken(ctx context.Context, n fermata.NewToken) (*fermata.Token, error) {
	return post[*fermata.Token](ctx, c, path("tokens"), n)
}

// Tokens lists the workspace's tokens.
func (c *Client) Tokens(ctx context.Context) ([]*fermata.Token, error) {
	p, err := get[page[*fermata.Token]](ctx, c, path("tokens"), nil)
	return p.Items, err
}

// RevokeToken ends a token.
func (c *Client) RevokeToken(ctx context.Context, id string) (*fermata.Token, error) {
	return do[*fermata.Token](ctx, c, call{method: http.MethodDelete, path: path("tokens", id)})
}

// Members lists the people of the workspace.
func (c *Client) Members(ctx context.Context) ([]*fermata.Member, error) {
	p, err := get[page[*fermata.Member]](ctx, c, path("members"), nil)
	return p.Items, err
}

// AddMember adds a person to the workspace.
func (c *Client) AddMember(ctx context.Context, n NewMember) (*fermata.Member, error) {
	return post[*fermata.Member](ctx, c, path("members"), n)
}

// Projects lists the names of the workspace's projects.
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

// VerifyAudit makes the server check the whole chain of events.
func (c *Client) VerifyAudit(ctx context.Context) (AuditReport, error) {
	return get[AuditReport](ctx, c, path("audit", "verify"), nil)
}
