package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// maxEngineTasks is the largest number of tasks that the engine suspends one by one. A larger number is reached with
// copies of fewTasks tasks.
const maxEngineTasks = 100_000

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
	suspend := n
	if n > maxEngineTasks {
		suspend = fewTasks
	}
	err := d.withEngine(ctx, func(e *engine.Engine) error { return suspendMany(ctx, e, suspend) })
	if err != nil || n == suspend {
		return err
	}
	return d.multiply(ctx, n/suspend)
}

func suspendMany(ctx context.Context, e *engine.Engine, n int) error {
	var task fermata.NewTask
	var claim fermata.ClaimRequest
	var finish fermata.Finish
	for _, text := range []struct {
		body string
		into any
	}{{taskBody, &task}, {claimBody, &claim}, {`{"token":1` + askRest + "1d" + askEnd, &finish}} {
		if err := json.Unmarshal([]byte(text.body), text.into); err != nil {
			return err
		}
	}
	return doConcurrently(128, n, func(int, int) error { return suspendOne(ctx, e, task, claim, finish) })
}

func suspendOne(ctx context.Context, e *engine.Engine, n fermata.NewTask, r fermata.ClaimRequest, f fermata.Finish) error {
	if _, err := e.CreateTask(ctx, filler, n); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	c, err := e.Claim(ctx, filler, r)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	f.Token = c.Run.Token
	_, err = e.Finish(ctx, filler, c.Run.ID, f)
	return err
}
