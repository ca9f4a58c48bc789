package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// claimReply is a claim, or 204 when nothing came.
type claimReply struct {
	Status int
	Body   *fermata.Claim
}

func (s *Server) claimRoutes() {
	add(s, operation("POST /claims", "claim", "Claim a task, or wait for one"), s.claim)
	claims := s.api.OpenAPI().Paths["/v1/claims"].Post
	claims.Responses["204"] = &huma.Response{Description: "No task became claimable in time"}
}

func (s *Server) claim(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.ClaimRequest]) (*claimReply, error) {
	waiting, done := s.waiting(ctx)
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

// wasDrained reports whether a wait ended only because the server stops.
func (s *Server) wasDrained(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() == nil && s.draining.Load()
}
