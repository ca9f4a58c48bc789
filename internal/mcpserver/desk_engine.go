package mcpserver

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
)

// engineDesk is a Desk that uses the engine in the same process.
type engineDesk struct {
	engine   *engine.Engine
	delivery *delivery.Service
	caller   fermata.Caller
	// renew reads the caller again during a wait; nil if the caller cannot
	// change.
	renew engine.Renewal
	// limit limits how fast one task may ask.
	limit func(c fermata.Caller, task string) error
}

func (d *engineDesk) Name() string { return d.caller.TokenID + d.caller.MemberID }

func (d *engineDesk) Person(context.Context) bool {
	return d.caller.Kind == fermata.ActorHuman && d.caller.TokenID != "" && d.caller.Has(fermata.ScopeAnswer)
}

func (d *engineDesk) Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error) {
	if err := d.limit(d.caller, taskID); err != nil {
		return nil, err
	}
	return d.engine.Ask(ctx, d.caller, taskID, a)
}

func (d *engineDesk) AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error) {
	if session != "" {
		if err := d.limit(d.caller, project+"/"+session); err != nil {
			return nil, err
		}
	}
	return d.engine.AskOutside(ctx, d.caller, project, session, a)
}

func (d *engineDesk) Question(ctx context.Context, id string) (*fermata.Question, error) {
	return d.engine.Question(ctx, d.caller, id)
}

func (d *engineDesk) WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return d.engine.WaitQuestion(engine.WithRenewal(ctx, d.renew), d.caller, id, wait)
}

func (d *engineDesk) WaitWords(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return d.engine.WaitWords(engine.WithRenewal(ctx, d.renew), d.caller, id, wait)
}

func (d *engineDesk) HandMessages(ctx context.Context, taskID string, ids []string) error {
	return d.engine.HandMessages(ctx, d.caller, taskID, ids)
}

func (d *engineDesk) Planned(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error) {
	if d.delivery == nil {
		return nil, nil
	}
	planned, _, err := d.delivery.Deliveries(ctx, d.caller, delivery.Filter{QuestionID: id, Wait: wait, Limit: mostPlanned})
	return planned, err
}

func (d *engineDesk) CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error) {
	return d.engine.CancelQuestion(ctx, d.caller, id, reason)
}

func (d *engineDesk) Answer(ctx context.Context, id string, a fermata.Answer) (*fermata.Question, error) {
	return d.engine.Answer(ctx, d.caller, id, a)
}

func (d *engineDesk) Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateVerdict, error) {
	if err := d.limit(d.caller, call.TaskID+call.SessionKey); err != nil {
		return nil, err
	}
	return d.engine.Gate(ctx, d.caller, call)
}

func (d *engineDesk) CreateTask(ctx context.Context, n fermata.NewTask) (*fermata.Task, error) {
	return d.engine.CreateTask(ctx, d.caller, n)
}

func (d *engineDesk) Context(ctx context.Context, taskID string) (*fermata.ResumeContext, error) {
	return d.engine.Context(ctx, d.caller, taskID)
}

func (d *engineDesk) Progress(ctx context.Context, taskID string, p fermata.Progress) error {
	return d.engine.Progress(ctx, d.caller, taskID, p)
}
