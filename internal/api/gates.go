package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type (
	verdictReply = reply[*fermata.GateReply]
	ruleReply    = reply[*fermata.GateRule]
)

func (s *Server) registerGates() {
	e := s.Engine
	addOperation(s, operation("POST /gates", "gate", "Decide whether a tool call may run"),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.GateCall]) (*verdictReply, error) {
			return replyOf(e.Gate(ctx, c, in.Body))
		})
	addOperation(s, operation("GET /gate-rules", "list-gate-rules", "List the rules of gates"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.GateRule]], error) {
			return listOf(e.GateRules(ctx, c))
		})
	addOperation(s, withStatusCreated(operation("POST /gate-rules", "add-gate-rule", "Add a rule for gates")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.NewGateRule]) (*ruleReply, error) {
			return replyOf(e.AddGateRule(ctx, c, in.Body))
		})
	addOperation(s, operation("DELETE /gate-rules/{id}", "remove-gate-rule", "Remove a rule of gates"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*ruleReply, error) {
			return replyOf(e.RemoveGateRule(ctx, c, in.ID))
		})
	addOperation(s, operation("POST /grants/verify", "verify-grant", "Check that what is about to run was approved, and use the grant up"),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.GrantCheck]) (*reply[*fermata.Grant], error) {
			return replyOf(e.VerifyGrant(ctx, c, in.Body))
		})
}
