package client

import (
	"context"
	"net/http"

	"github.com/fermata-hq/fermata"
)

// Gate asks whether a tool call may run. Whatever goes wrong, it may not: a
// caller that gets an error must not run the tool.
func (c *Client) Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateVerdict, error) {
	return post[*fermata.GateVerdict](ctx, c, path("gates"), call)
}

// GateRules lists the rules of gates.
func (c *Client) GateRules(ctx context.Context) ([]*fermata.GateRule, error) {
	p, err := get[page[*fermata.GateRule]](ctx, c, path("gate-rules"), nil)
	return p.Items, err
}

// AddGateRule makes a rule for gates.
func (c *Client) AddGateRule(ctx context.Context, n fermata.NewGateRule) (*fermata.GateRule, error) {
	return post[*fermata.GateRule](ctx, c, path("gate-rules"), n)
}

// RemoveGateRule removes a rule of gates.
func (c *Client) RemoveGateRule(ctx context.Context, id string) (*fermata.GateRule, error) {
	return do[*fermata.GateRule](ctx, c, call{method: http.MethodDelete, path: path("gate-rules", id)})
}

// VerifyGrant checks that what is about to run is what was approved, and uses
// the grant up. After an error it must not run.
func (c *Client) VerifyGrant(ctx context.Context, check fermata.GrantCheck) (*fermata.Grant, error) {
	return post[*fermata.Grant](ctx, c, path("grants", "verify"), check)
}
