package fermata

// Consent holds the current facts behind a grant. The signature alone is not enough: with the signing key from the
// database, an intruder can sign a grant that nobody approved.
type Consent struct {
	// Question is the question that the grant names.
	Question *Question
	// ChangedField names a field of the question in which the database differs from the events. It is empty if there is none.
	ChangedField string
	// Used reports whether an event records a use of the grant.
	Used bool
	// Policy is the current policy.
	Policy Policy
	// Risk is the highest risk that the current gate rules set for the action. DenyRule is the rule that denies the
	// action, or nil.
	Risk     Risk
	DenyRule *GateRule
	// Members are the approvers in their current state, by id. A person who is not a member is missing.
	Members map[string]*Member
	// Signed holds the ids of approvers whose passkey signed the approval. Their signatures were checked again for this use.
	Signed map[string]bool
}

// Approvers returns the ids of the people whose approval the question counts, each once.
func (q *Question) Approvers() []string {
	r := q.Resolution
	if !r.IsApproved() || r.DecidedBy != ActorHuman || r.AnsweredBy == nil {
		return nil
	}
	var ids []string
	for _, v := range q.Votes {
		if v.Value == Approve {
			ids = append(ids, v.By.ID)
		}
	}
	if len(ids) == 0 {
		ids = append(ids, r.AnsweredBy.ID)
	}
	return ids
}

// CheckConsent returns an error if the grant has no matching approval, or if the same approval could not be given
// today. An approver may have lost the right to answer, or the policy may require more.
func (g Grant) CheckConsent(c Consent) error {
	q := c.Question
	given, ok := q.Grant()
	if !ok || !g.equals(given) {
		return Errorf(CodeForbidden, "the grant does not say what was approved").
			WithHint("take it from the context of the resumed task, whole")
	}
	if c.ChangedField != "" {
		return ChangedInDatabaseError(c.ChangedField)
	}
	if c.Used {
		return GrantUsedError(q.ID)
	}
	if c.DenyRule != nil {
		return Errorf(CodeForbidden, "the grant cannot be used any more: a rule denies the action: %s", c.DenyRule.Sentence()).
			WithHint("no approval overrides this rule")
	}
	if q.Resolution.DecidedBy != ActorHuman {
		return nil
	}
	if why := c.missingApprovalReason(); why != "" {
		return Errorf(CodeForbidden, "the grant cannot be used any more: %s", why).WithHint("ask again")
	}
	return c.checkPolicy()
}

// ChangedInDatabaseError returns the error for a question in which the database differs from the events. The argument
// fact names the part that differs.
func ChangedInDatabaseError(fact string) error {
	return Errorf(CodePolicyViolation, "the question was changed in the database: its %s is not what the events say", fact).
		WithHint("look at who writes the database: fermata audit verify; then ask again")
}

// GrantUsedError returns the error for a grant that was used before.
func GrantUsedError(question string) error {
	return Errorf(CodeForbidden, "the grant of %s was used already; it is good for one run", question).WithHint("ask again")
}

// equals reports whether two grants have the same content.
func (g Grant) equals(other Grant) bool {
	same := g.At.Equal(other.At) && g.ExpiresAt.Equal(other.ExpiresAt)
	g.At, g.ExpiresAt = other.At, other.ExpiresAt
	return same && g == other
}

// missingApprovalReason returns the reason why an approval does not count today. It returns "" if enough approvals count.
func (c Consent) missingApprovalReason() (reason string) {
	needed := 1
	if q := c.Question.Approvals; q != nil {
		needed = q.Required
	}
	for _, id := range c.Question.Approvers() {
		m := c.Members[id]
		switch {
		case m == nil:
			reason = "a member who approved is gone"
		case m.DisabledAt != nil:
			reason = m.Handle + " approved, and is a member no more"
		case c.Question.CheckMayAnswer(m.Caller()) != nil:
			reason = m.Handle + " approved, and may not any more: " + c.Question.CheckMayAnswer(m.Caller()).Error()
		default:
			needed--
		}
	}
	if needed <= 0 {
		return ""
	}
	return reason
}

// checkPolicy returns an error if the current policy requires a stronger assurance than the approvers had. It uses
// the risk that the question would have today.
func (c Consent) checkPolicy() error {
	q := *c.Question
	q.RaiseRisk(HigherRisk(c.Risk, c.Policy.RiskFloor(&q)), c.Policy)
	given := q.weakestApproval()
	if given == AssuranceLink {
		if err := c.Policy.CheckLink(&q); err != nil {
			return Errorf(CodeForbidden, "the approval came by a link, and the current policy says: %s", err).WithHint("ask again")
		}
	}
	if q.LeastAssurance != "" && !given.AtLeast(q.LeastAssurance) {
		return Errorf(CodeForbidden, "the current policy requires the sign-in %s, but an approver's sign-in was %s", q.LeastAssurance, given).
			WithHint("ask again")
	}
	if !q.MustBeSigned() {
		return nil
	}
	for _, id := range q.Approvers() {
		if !c.Signed[id] {
			return Errorf(CodeForbidden, "the current policy requires that a passkey signs each approval, and one approval has no valid signature").
				WithHint("ask again")
		}
	}
	return nil
}

// weakestApproval returns the lowest assurance among the approvers.
func (q *Question) weakestApproval() Assurance {
	given := q.Resolution.Assurance
	for _, v := range q.Votes {
		if v.Value == Approve && !v.Assurance.AtLeast(given) {
			given = v.Assurance
		}
	}
	return given
}
