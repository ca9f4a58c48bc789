package fermata

import (
	"slices"
	"strings"
)

// CheckMayAnswer returns nil if the caller may answer the question, and otherwise
// [CodeNotEligible] with the reason. Every channel uses this one rule
// (docs/inside/contract.md#who-may-answer). It does not check the assurance;
// [Question.CheckMayDecide] does.
func (q *Question) CheckMayAnswer(c Caller) error {
	switch {
	case c.Kind != ActorHuman:
		return Errorf(CodeNotEligible, "only people answer; this token is an agent's").
			WithHint("ask a person to answer in the inbox or with fermata respond")
	case !c.RoleIn(q.Project).AtLeast(RoleResponder):
		return Errorf(CodeNotEligible, "the role %s may not answer in the project %s", c.RoleIn(q.Project), q.Project)
	case !c.HasScope(ScopeAnswer):
		return c.missingScopeError(ScopeAnswer)
	case c.MemberID != "" && q.AskedBy.ID == c.MemberID && q.Approvals != nil && !q.Approvals.Self:
		return Errorf(CodeNotEligible, "the person who asked may not approve")
	case !q.isAssignedTo(c):
		return Errorf(CodeNotEligible, "the question is for %s", strings.Join(q.Assignees, ", "))
	}
	return nil
}

// CheckMayDecide returns nil if the caller may answer q and is signed in strongly
// enough for its risk.
func (q *Question) CheckMayDecide(c Caller) error {
	if err := q.CheckMayAnswer(c); err != nil {
		return err
	}
	return q.CheckAssurance(c)
}

// CheckAssurance refuses a person whose assurance is below the one that the
// policy requires. The person may see the question, and may answer it after a
// stronger sign-in.
func (q *Question) CheckAssurance(c Caller) error {
	least := q.requiredAssurance(c.WithoutSignIn)
	if least == "" || c.Assurance.AtLeast(least) {
		return nil
	}
	hint := "sign in with a browser and answer there"
	if c.SessionID != "" {
		hint = "sign out of this browser and sign in again: your last sign-in was too long ago, or by a link that a token made"
	}
	if least == AssurancePasskey {
		hint = "answer in the browser, where your passkey signs the answer"
		if q.Risk == RiskCritical && q.Approvals == nil {
			hint += "; or ask for the approval of two people (approvals), each signed in with a browser"
		}
	}
	return Errorf(CodeNotEligible, "the policy requires a stronger sign-in: yours is %s, and a question of %s risk requires %s",
		c.Assurance, q.Risk, least).WithHint("%s", hint)
}

// requiredAssurance returns the assurance that a person needs to decide the question. The argument withoutSignIn means
// that the answer comes over a channel or by a link. An empty result means that any assurance is enough.
func (q *Question) requiredAssurance(withoutSignIn bool) Assurance {
	if q.LeastAssurance == "" && (withoutSignIn || defaultAssurance[q.Risk] != "") {
		return q.assuranceByRisk()
	}
	return q.LeastAssurance
}

// assuranceByRisk returns the assurance that the question's risk requires if the policy sets none. It applies over a
// channel and by a link, and to high and critical risks everywhere. For a low risk, the link is enough. For a medium
// risk, the person's identity in the channel is enough. A high risk needs a sign-in. A critical risk needs two people
// or a passkey.
func (q *Question) assuranceByRisk() Assurance {
	switch q.Risk {
	case RiskMedium:
		return AssuranceChannel
	case RiskHigh:
		return AssuranceSession
	case RiskCritical:
		if q.Approvals != nil && q.Approvals.Required > 1 {
			return AssuranceSession
		}
		return AssurancePasskey
	default:
		return AssuranceLink
	}
}

// isAssignedTo reports whether the caller is an assignee: the question names
// the caller's handle, id, group or role, or it has no assignees and so is for
// all.
func (q *Question) isAssignedTo(c Caller) bool {
	if len(q.Assignees) == 0 {
		return true
	}
	return slices.ContainsFunc(q.Assignees, func(a string) bool {
		if group, ok := strings.CutPrefix(a, "group:"); ok {
			return slices.Contains(c.Groups, group)
		}
		if role, ok := strings.CutPrefix(a, "role:"); ok {
			return string(c.RoleIn(q.Project)) == role
		}
		name := strings.TrimPrefix(a, "member:")
		return name != "" && (name == c.Name || name == c.MemberID)
	})
}

// CheckMayTakeDefault refuses callers who may not answer the question, because a workflow uses the default like an
// answer. It also refuses a default that picks a dangerous option. It accepts every approval, because resuming
// approves nothing.
func (q *Question) CheckMayTakeDefault(c Caller) error {
	if q.Type == Approval {
		return nil
	}
	if err := q.CheckMayDecide(c); err != nil {
		return err
	}
	if defaults, ok := q.Defaults(); ok && q.PicksDangerousOption(defaults) {
		return Errorf(CodePolicyViolation, "the default picks an option marked as dangerous, and nobody has chosen it").
			WithHint("answer the question: fermata respond %s", q.ID)
	}
	return nil
}
