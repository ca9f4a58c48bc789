package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// claimReply is a claim, or 204 if no task became claimable.
type claimReply struct {
	Status int
	Body   *fermata.Claim
}

// claimInput describes the worker, and the token with which its agents act.
type claimInput struct {
	AgentToken string `header:"Fermata-Agent-Token" doc:"the token that the worker gives its agents: it reaches the tasks that this worker claims"`
	Body       fermata.ClaimRequest
}

func (s *Server) registerClaims() {
	addOperation(s, operation("POST /claims", "claim", "Claim a task, or wait for one"), s.claim)
	addOperation(s, operation("POST /attention", "attention", "Wait until one of a worker's runs has news"), s.attention)
	addOperation(s, operation("GET /workers", "list-workers", "List the workers of the last week, and what each takes"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[fermata.Worker]], error) {
			return listOf(s.Engine.Workers(ctx, c))
		})
	addOperation(s, operation("POST /workers/leave", "leave-worker", "Say that a worker asks for no task any more, with the request that it claimed with"), s.stopClaiming)
	claims := s.api.OpenAPI().Paths["/v1/claims"].Post
	claims.Responses["204"] = &huma.Response{Description: "No task became claimable in time"}
}

// attention serves POST /v1/attention.
func (s *Server) attention(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.AttentionRequest]) (*reply[*fermata.Attention], error) {
	waiting, done := s.waitContext(ctx)
	defer done()
	found, err := s.Engine.Attention(waiting, c, in.Body)
	if s.wasDrained(ctx, err) {
		return replyOf(found, nil)
	}
	return replyOf(found, err)
}

// stopClaiming serves POST /v1/workers/leave.
func (s *Server) stopClaiming(ctx context.Context, c fermata.Caller, in *claimInput) (*empty, error) {
	agents, err := s.agentCaller(ctx, c, in.AgentToken)
	if err != nil {
		return nil, err
	}
	in.Body.Visible = agents.VisibleProjects()
	return emptyOf(s.Engine.RemoveWorker(ctx, c, in.Body))
}

func (s *Server) claim(ctx context.Context, c fermata.Caller, in *claimInput) (*claimReply, error) {
	agents, err := s.agentCaller(ctx, c, in.AgentToken)
	if err != nil {
		return nil, err
	}
	in.Body.AgentTokenID, in.Body.Visible = agents.TokenID, agents.VisibleProjects()
	waiting, done := s.waitContext(ctx)
	defer done()
	claim, err := s.Engine.Claim(waiting, c, in.Body)
	if errors.Is(err, engine.ErrNoTask) || s.wasDrained(ctx, err) {
		return &claimReply{Status: http.StatusNoContent}, nil
	}
	if err != nil {
		return nil, err
	}
	return &claimReply{Status: http.StatusOK, Body: claim}, nil
}

// agentCaller returns the caller whose token the worker gives its agents. Without a token it returns the zero caller.
func (s *Server) agentCaller(ctx context.Context, worker fermata.Caller, secret string) (agents fermata.Caller, err error) {
	if secret == "" {
		return agents, nil
	}
	agents, err = s.Engine.Authenticate(ctx, secret)
	if err != nil && fermata.CodeOf(err) != fermata.CodeUnauthenticated {
		return agents, err
	}
	if err != nil || agents.WorkspaceID != worker.WorkspaceID {
		return agents, fermata.Errorf(fermata.CodeUnauthenticated, "the token of the agents is unknown, expired or revoked").
			WithHint("give the worker another one: fermata token create --scope ask agents")
	}
	return agents, nil
}

// wasDrained reports whether a wait ended only because the server is stopping.
func (s *Server) wasDrained(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() == nil && s.draining.Load()
}
