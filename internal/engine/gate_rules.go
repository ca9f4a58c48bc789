package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// mayRule refuses callers who may not manage rules: only people who operate
// the workspace may.
func mayRule(c fermata.Caller) error {
	if c.Kind == fermata.ActorHuman && (c.Has(fermata.ScopeAdmin) || c.Role.AtLeast(fermata.RoleOperator) && c.Has(fermata.ScopeAnswer)) {
		return nil
	}
	return fermata.Errorf(fermata.CodeForbidden, "only a person who is operator or admin may change the rules of gates").
		WithHint("an admin can make a token: fermata token create NAME --member HANDLE --role operator --scope answer,read")
}

// GateRules lists the rules, also those that are expired or used up.
func (e *Engine) GateRules(ctx context.Context, c fermata.Caller) ([]*fermata.GateRule, error) {
	if err := require(c, fermata.ScopeRead); err != nil {
		return nil, err
	}
	return e.reads(ctx, c).GateRules()
}

// AddGateRule makes a rule.
func (e *Engine) AddGateRule(ctx context.Context, c fermata.Caller, n fermata.NewGateRule) (*fermata.GateRule, error) {
	if err := mayRule(c); err != nil {
		return nil, err
	}
	if n.TaskID != "" {
		id, err := e.taskID(ctx, c, n.TaskID)
		if err != nil {
			return nil, err
		}
		n.TaskID = id
	}
	return write(ctx, e, c, func(tx *store.Tx) (*fermata.GateRule, error) {
		r, err := n.Make(fermata.NewID(fermata.PrefixGateRule, tx.Now()), c.Actor(), tx.Now())
		if err != nil {
			return nil, err
		}
		rules, err := tx.GateRules()
		if err != nil {
			return nil, err
		}
		if len(rules) >= fermata.MaxGateRules {
			return nil, fermata.Errorf(fermata.CodePolicyViolation, "the workspace has %d rules, the most it may have", len(rules)).
				WithHint("remove those that are expired or used up: fermata gate list --all")
		}
		tx.InsertGateRule(r)
		tx.Append(&fermata.Event{Type: fermata.EventGateRuleAdded, TaskID: n.TaskID, Actor: c.Actor(), Data: data(r)})
		return r, nil
	})
}

// RemoveGateRule removes a rule, at once.
func (e *Engine) RemoveGateRule(ctx context.Context, c fermata.Caller, id string) (*fermata.GateRule, error) {
	if err := mayRule(c); err != nil {
		return nil, err
	}
	id, err := e.reads(ctx, c).FindID("rule", "gate_rules", fermata.PrefixGateRule, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, func(tx *store.Tx) (*fermata.GateRule, error) {
		r, err := tx.GateRule(id)
		if err != nil {
			return nil, err
		}
		tx.DeleteGateRule(id)
		tx.Append(&fermata.Event{Type: fermata.EventGateRuleRemoved, TaskID: r.TaskID, Actor: c.Actor(), Data: data(map[string]string{"rule_id": id})})
		return r, nil
	})
}
