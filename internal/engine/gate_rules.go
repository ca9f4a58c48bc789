package engine

import (
	"cmp"
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// checkRulePermission refuses a caller who may not manage the rule. The caller must be an
// operator in each project where the rule works. A rule for a session works in
// the projects of the session's tasks. A rule without a task, session or
// project works in every project.
func checkRulePermission(r store.Reader, c fermata.Caller, scope fermata.GateOrigin) error {
	places := []fermata.Resource{fermata.InEveryProject}
	switch {
	case scope.TaskID != "":
		t, err := r.Task(scope.TaskID)
		if err != nil {
			return err
		}
		places[0] = fermata.InProject(t.Project)
	case scope.Project != "":
		places[0] = fermata.InProject(scope.Project)
	case scope.SessionKey != "":
		tasks, err := r.TasksOfSession(scope.SessionKey)
		if err != nil {
			return err
		}
		for i, t := range tasks {
			if i == 0 {
				places = nil
			}
			places = append(places, fermata.InProject(t.Project))
		}
	}
	for _, place := range places {
		if err := c.CheckPermission(fermata.ToChangeGateRules, place); err != nil {
			return err
		}
	}
	return nil
}

// ruledProject returns the project in which a rule works. A rule for a session works only in the project of the
// session's tasks, because the agent of the session may create a task in another project later. It works in every
// project if its creator may add rules for every project.
func ruledProject(r store.Reader, c fermata.Caller, n fermata.NewGateRule) (string, error) {
	if n.SessionKey == "" || c.CheckPermission(fermata.ToChangeGateRules, fermata.InEveryProject) == nil {
		return n.Project, nil
	}
	tasks, err := r.TasksOfSession(n.SessionKey)
	if err != nil {
		return "", err
	}
	project := ""
	for _, t := range tasks {
		if project != "" && t.Project != project {
			return "", fermata.Errorf(fermata.CodeInvalidRequest, "the session has tasks in the projects %s and %s", project, t.Project).
				WithHint("make a rule for one of these projects, or for one task")
		}
		project = t.Project
	}
	return project, nil
}

// sessionStarter returns the actor that began the session. A rule that allows calls in a session allows only the calls
// of this actor.
func sessionStarter(r store.Reader, key string) (*fermata.Actor, error) {
	tasks, err := r.TasksOfSession(key)
	if err == nil && len(tasks) == 0 {
		tasks, err = r.EndedTasksOfSession(key)
	}
	if err != nil {
		return nil, err
	}
	var starter *fermata.Actor
	for _, t := range tasks {
		by := t.CreatedBy
		if starter != nil && !starter.Is(by) {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s and %s each have a session with this key", starter.DisplayName(), by.DisplayName()).
				WithHint("make the rule for the task of the one that you mean: --task ID (task_id)")
		}
		starter = &by
	}
	if starter == nil {
		return nil, fermata.NotFound("session", key).WithHint("a session is known once it has asked something; until then, allow the call in the project, with a limit of uses and time")
	}
	return starter, nil
}

// GateRules lists the rules, including expired and used-up ones. Rules of projects that the caller may not see are
// left out.
func (e *Engine) GateRules(ctx context.Context, c fermata.Caller) ([]*fermata.GateRule, error) {
	if err := c.CheckPermission(fermata.ToReadGateRules, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	all, err := r.GateRules()
	if err != nil || c.VisibleProjects().HasAll() {
		return all, err
	}
	var visible []*fermata.GateRule
	for _, rule := range all {
		canSee, err := canSeeRule(r, c, rule)
		if err != nil {
			return nil, err
		}
		if canSee {
			visible = append(visible, rule)
		}
	}
	return visible, nil
}

// canSeeRule reports whether a rule works in a project that the caller may see. The reader must be limited to the
// projects that the caller may see.
func canSeeRule(r store.Reader, c fermata.Caller, rule *fermata.GateRule) (bool, error) {
	switch {
	case rule.Project != "":
		return c.VisibleProjects().Has(rule.Project), nil
	case rule.TaskID != "":
		_, err := r.Task(rule.TaskID)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return false, nil
		}
		return err == nil, err
	case rule.SessionKey != "":
		tasks, err := r.TasksOfSession(rule.SessionKey)
		return len(tasks) > 0, err
	default:
		return true, nil
	}
}

// AddGateRule adds a gate rule. A workspace has at most [fermata.MaxGateRules].
func (e *Engine) AddGateRule(ctx context.Context, c fermata.Caller, n fermata.NewGateRule) (*fermata.GateRule, error) {
	if err := c.CheckPermission(fermata.ToChangeGateRules, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if n.TaskID != "" {
		id, err := e.taskID(ctx, c, n.TaskID)
		if err != nil {
			return nil, err
		}
		n.TaskID = id
	}
	return write(ctx, e, c, fermata.ToChangeGateRules, func(tx *store.Tx) (*fermata.GateRule, error) {
		// The caller cannot name a session in a project that is hidden from them.
		visible := tx.WithVisibleProjects(c.VisibleProjects())
		if err := checkRulePermission(visible, c, fermata.GateOrigin{Project: n.Project, TaskID: n.TaskID, SessionKey: n.SessionKey}); err != nil {
			return nil, err
		}
		r, err := n.Make(fermata.NewID(fermata.PrefixGateRule, tx.Now()), c.Actor(), tx.Now())
		if err != nil {
			return nil, err
		}
		if r.Project, err = ruledProject(visible, c, n); err != nil {
			return nil, err
		}
		if r.SessionKey != "" && r.Decision == fermata.GateAllow {
			if r.SessionOwner, err = sessionStarter(visible, r.SessionKey); err != nil {
				return nil, err
			}
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
		tx.Append(&fermata.Event{Type: fermata.EventGateRuleAdded, TaskID: n.TaskID, Actor: c.Actor(), Data: encodeData(r)})
		return r, nil
	})
}

// ruleID returns the full id for the id that a person typed. The caller must be able to see the rule.
func (e *Engine) ruleID(ctx context.Context, c fermata.Caller, idOrSuffix string) (string, error) {
	r := e.reader(ctx, c)
	id, err := r.FindID("rule", "gate_rules", fermata.PrefixGateRule, idOrSuffix)
	if err != nil {
		return "", err
	}
	rule, err := r.GateRule(id)
	if err != nil {
		return "", err
	}
	if canSee, err := canSeeRule(r, c, rule); err != nil || !canSee {
		return "", cmp.Or(err, error(fermata.NotFound("rule", idOrSuffix)))
	}
	return id, nil
}

// RemoveGateRule removes a rule. It stops working at once.
func (e *Engine) RemoveGateRule(ctx context.Context, c fermata.Caller, id string) (*fermata.GateRule, error) {
	if err := c.CheckPermission(fermata.ToChangeGateRules, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := e.ruleID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToChangeGateRules, func(tx *store.Tx) (*fermata.GateRule, error) {
		r, err := tx.GateRule(id)
		if err != nil {
			return nil, err
		}
		if err := checkRulePermission(tx.WithVisibleProjects(c.VisibleProjects()), c, fermata.GateOrigin{Project: r.Project, TaskID: r.TaskID, SessionKey: r.SessionKey}); err != nil {
			return nil, err
		}
		tx.DeleteGateRule(id)
		tx.Append(&fermata.Event{Type: fermata.EventGateRuleRemoved, TaskID: r.TaskID, Actor: c.Actor(), Data: encodeData(map[string]string{"rule_id": id})})
		return r, nil
	})
}
