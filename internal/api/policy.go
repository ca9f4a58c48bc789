package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// auditReport is the result of verifying the chain of events.
type auditReport struct {
	Events  int64  `json:"events" doc:"how many were verified"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty" doc:"the first event that is wrong"`

	Checkpoints int64  `json:"checkpoints" doc:"how many signed checkpoints are in the chain"`
	SignedTo    int64  `json:"signed_to" doc:"the last event that a signed checkpoint covers"`
	PublicKey   string `json:"public_key,omitempty" doc:"checks the signatures of the checkpoints (C2SP signed-note)"`
	Witnessed   int64  `json:"witnessed" doc:"how many checkpoints of the witnesses agree with the chain"`
	Signed      int64  `json:"signed" doc:"how many answers are signed with a passkey"`
	Removed     int64  `json:"removed" doc:"how many events retention removed; signed ranges take their place"`
}

type verifyInput struct {
	EndOnly bool `query:"end_only" doc:"verify only the last signed checkpoint and the events after it"`
}

func (s *Server) registerPolicy() {
	e := s.Engine
	addOperation(s, operation("GET /policies", "get-policy", "Read the workspace's policy"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[fermata.Policy], error) {
			return replyOf(e.Policy(ctx, c))
		})
	addOperation(s, operation("PUT /policies", "set-policy", "Replace the workspace's policy"),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.Policy]) (*reply[fermata.Policy], error) {
			return replyOf(e.SetPolicy(ctx, c, in.Body))
		})
	addOperation(s, operation("GET /audit/verify", "verify-audit", "Verify the chain of events"),
		func(ctx context.Context, c fermata.Caller, in *verifyInput) (*reply[auditReport], error) {
			verify := e.VerifyAudit
			if in.EndOnly {
				verify = e.VerifyAuditEnd
			}
			r, err := verify(ctx, c)
			return replyOf(auditReport(r), err)
		})
}
