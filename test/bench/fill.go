package main

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// filler is the agent that suspends tasks in bulk.
var filler = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: rawActor, Name: "agent-0",
	Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
}

// fill suspends tasks as workers do (create, claim, finish with a question), but through the engine and without HTTP.
func (d *database) fill(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	return d.withEngine(ctx, func(e *engine.Engine) error { return suspendMany(ctx, e, n) })
}

func suspendMany(ctx context.Context, e *engine.Engine, n int) error {
	p, err := newPlayer(e)
	if err != nil {
		return err
	}
	return doConcurrently(128, n, func(int, int) error {
		_, err := p.suspend(ctx)
		return err
	})
}
