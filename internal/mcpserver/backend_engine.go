package mcpserver

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
)

// engineBackend is a Backend that uses the engine in the same process.
type engineBackend struct {
	engine   *engine.Engine
	delivery *delivery.Service
	caller   fermata.Caller
	// renew reads the caller again during a wait; nil if the caller cannot
	// change.
	renew engine.Renewal
	// limit limits how fast one task may ask.
	limit func(c fermata.Caller, task string) error
}

func (d *engineBackend) Name() string { return d.caller.TokenID + d.caller.MemberID }

func (d *engineBackend) IsPerson(context.Context) bool {
	return d.caller.Kind == fermata.ActorHuman && d.caller.TokenID != "" && d.caller.HasScope(fermata.ScopeAnswer)
}

func (d *engineBackend) Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error) {
	if err := d.limit(d.caller, taskID); err != nil {
		return nil, err
	}
	return d.engine.Ask(ctx, d.caller, taskID, a)
}

func (d *engineBackend) AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error) {
	if session != "" {
		if err := d.limit(d.caller, project+"/"+session); err != nil {
			return nil, err
		}
	}
	return d.engine.AskExternal(ctx, d.caller, project, session, a)
}

func (d *engineBackend) Question(ctx context.Context, id string) (*fermata.Question, error) {
	return d.engine.Question(ctx, d.caller, id)
}

func (d *engineBackend) WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return d.engine.WaitQuestion(engine.WithRenewal(ctx, d.renew), d.caller, id, wait)
}

func (d *engineBackend) WaitQuestionOrMessage(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return d.engine.WaitQuestionOrMessage(engine.WithRenewal(ctx, d.renew), d.caller, id, wait)
}

func (d *engineBackend) HandMessages(ctx context.Context, taskID string, ids []string) error {
	return d.engine.HandMessages(ctx, d.caller, taskID, ids)
}

func (d *engineBackend) PlannedDeliveries(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error) {
	if d.delivery == nil {
		return nil, nil
	}
	planned, _, err := d.delivery.Deliveries(ctx, d.caller, delivery.Filter{QuestionID: id, Wait: wait, Limit: maxDeliveries})
	return planned, err
}

func (d *engineBackend) CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error) {
	return d.engine.CancelQuestion(ctx, d.caller, id, reason)
}

func (d *engineBackend) Answer(ctx context.Context, id string, a fermata.Answer) (*fermata.Question, error) {
	return d.engine.Answer(ctx, d.caller, id, a)
}

func (d *engineBackend) Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateReply, error) {
	if err := d.limit(d.caller, call.TaskID+call.SessionKey); err != nil {
		return nil, err
	}
	return d.engine.Gate(ctx, d.caller, call)
}

func (d *engineBackend) CreateTask(ctx context.Context, n fermata.NewTask) (*fermata.Task, error) {
	return d.engine.CreateTask(ctx, d.caller, n)
}

func (d *engineBackend) ResumeContext(ctx context.Context, taskID string) (*fermata.ResumeContext, error) {
	return d.engine.ResumeContext(ctx, d.caller, taskID)
}

func (d *engineBackend) ReportProgress(ctx context.Context, taskID string, p fermata.Progress) error {
	return d.engine.ReportProgress(ctx, d.caller, taskID, p)
}
