package client

import (
	"context"
	"net/http"

	"github.com/fermata-hq/fermata"
)

// Gate asks whether a tool call may run. After an error the caller must not run
// the tool.
func (c *Client) Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateReply, error) {
	return post[*fermata.GateReply](ctx, c, path("gates"), call)
}

// GateRules returns the rules of the gate.
func (c *Client) GateRules(ctx context.Context) ([]*fermata.GateRule, error) {
	p, err := get[page[*fermata.GateRule]](ctx, c, path("gate-rules"), nil)
	return p.Items, err
}

// AddGateRule adds a rule to the gate.
func (c *Client) AddGateRule(ctx context.Context, n fermata.NewGateRule) (*fermata.GateRule, error) {
	return post[*fermata.GateRule](ctx, c, path("gate-rules"), n)
}

// RemoveGateRule removes a rule of the gate.
func (c *Client) RemoveGateRule(ctx context.Context, id string) (*fermata.GateRule, error) {
	return do[*fermata.GateRule](ctx, c, call{method: http.MethodDelete, path: path("gate-rules", id)})
}

// VerifyGrant checks that the action about to run is the approved one, and uses
// the grant up. After an error the action must not run.
func (c *Client) VerifyGrant(ctx context.Context, check fermata.GrantCheck) (*fermata.Grant, error) {
	return post[*fermata.Grant](ctx, c, path("grants", "verify"), check)
}
