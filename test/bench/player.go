package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// player is an agent and a person who take turns, without HTTP.
type player struct {
	e      *engine.Engine
	task   fermata.NewTask
	claim  fermata.ClaimRequest
	ask    fermata.Finish
	answer fermata.Answer
	finish fermata.Finish
}

// responder is the person who answers in bulk.
var responder = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, TokenID: rawActor, MemberID: "mem_1", Name: "person-0", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin},
}

func newPlayer(e *engine.Engine) (*player, error) {
	p := &player{e: e}
	for _, text := range []struct {
		body string
		into any
	}{
		{taskBody, &p.task}, {claimBody, &p.claim}, {`{"token":1` + askRest + "1d" + askEnd, &p.ask}, {answerBody, &p.answer},
		{`{"token":1` + finishRest, &p.finish},
	} {
		if err := json.Unmarshal([]byte(text.body), text.into); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// suspend creates a task, and stops one on a question.
func (p *player) suspend(ctx context.Context) (question string, err error) {
	if _, err := p.e.CreateTask(ctx, filler, p.task); err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	return p.claimAndFinish(ctx, p.ask)
}

// play suspends a task, answers its question, and lets it end.
func (p *player) play(ctx context.Context) error {
	question, err := p.suspend(ctx)
	if err != nil {
		return err
	}
	if _, err := p.e.Answer(ctx, responder, question, p.answer); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	_, err = p.claimAndFinish(ctx, p.finish)
	return err
}

// claimAndFinish returns the question that the run ended with, if it did.
func (p *player) claimAndFinish(ctx context.Context, f fermata.Finish) (question string, err error) {
	c, err := p.e.Claim(ctx, filler, p.claim)
	if err != nil {
		return "", fmt.Errorf("claim: %w", err)
	}
	f.Token = c.Run.Token
	reply, err := p.e.Finish(ctx, filler, c.Run.ID, f)
	if err != nil {
		return "", fmt.Errorf("finish: %w", err)
	}
	return reply.Task.PendingQuestionID, nil
}
