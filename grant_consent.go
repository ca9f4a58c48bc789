package fermata

// Consent is what stands behind a grant today. The key that signs grants is not enough: who
// reads it from the database has approved nothing.
type Consent struct {
	// Question is the one that the grant names.
	Question *Question
	// Changed names a fact in which the question is another in the database than the events say; empty where there is none.
	Changed string
	// Used says that the events tell of a use of the grant.
	Used bool
	// Policy is that of today.
	Policy Policy
	// Risk is the highest risk that the rules of gates give to the action today. Denied is the rule
	// that denies the action, or nil.
	Risk   Risk
	Denied *GateRule
	// Members are those who approved, as they are today, by id. Who is gone is not among them.
	Members map[string]*Member
	// Signed are the ids of those whose passkey signed the approval, after the signature was checked today.
	Signed map[string]bool
}

// Approvers returns the ids of the people whose approval the question counts, each once.
func (q *Question) Approvers() []string {
	r := q.Resolution
	if !r.Approved() || r.DecidedBy != ActorHuman || r.AnsweredBy == nil {
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

// CheckConsent refuses a grant behind which there is no approval, and one that would not be
// given today: the people who approved may no more, or the policy asks for more.
func (g Grant) CheckConsent(c Consent) error {
	q := c.Question
	given, ok := q.Grant()
	if !ok || !g.equals(given) {
		return Errorf(CodeForbidden, "the grant does not say what was approved").
			WithHint("take it from the context of the resumed task, whole")
	}
	if c.Changed != "" {
		return ChangedInDatabase(c.Changed)
	}
	if c.Used {
		return GrantUsed(q.ID)
	}
	if c.Denied != nil {
		return Errorf(CodeForbidden, "the grant cannot be used any more: a rule denies the action: %s", c.Denied.Sentence()).
			WithHint("nobody's approval goes before such a rule")
	}
	if q.Resolution.DecidedBy != ActorHuman {
		return nil
	}
	if why := c.missingApprover(); why != "" {
		return Errorf(CodeForbidden, "the grant cannot be used any more: %s", why).WithHint("ask again")
	}
	return c.checkPolicy()
}

// ChangedInDatabase refuses a question that is another in the database than the events say. The fact is what differs.
func ChangedInDatabase(fact string) error {
	return Errorf(CodePolicyViolation, "the question was changed in the database: its %s is not what the events say", fact).
		WithHint("look at who writes the database: fermata audit verify; then ask again")
}

// GrantUsed refuses a grant that was used before.
func GrantUsed(question string) error {
	return Errorf(CodeForbidden, "the grant of %s was used already; it is good for one run", question).WithHint("ask again")
}

// equals reports whether two grants say the same.
func (g Grant) equals(other Grant) bool {
	same := g.At.Equal(other.At) && g.ExpiresAt.Equal(other.ExpiresAt)
	g.At, g.ExpiresAt = other.At, other.ExpiresAt
	return same && g == other
}

// missingApprover says which approval does not count any more, "" where enough of them do.
func (c Consent) missingApprover() (why string) {
	needed := 1
	if q := c.Question.Approvals; q != nil {
		needed = q.Required
	}
	for _, id := range c.Question.Approvers() {
		m := c.Members[id]
		switch {
		case m == nil:
			why = "a member who approved is gone"
		case m.DisabledAt != nil:
			why = m.Handle + " approved, and is a member no more"
		case c.Question.MayAnswer(m.Caller()) != nil:
			why = m.Handle + " approved, and may not any more: " + c.Question.MayAnswer(m.Caller()).Error()
		default:
			needed--
		}
	}
	if needed <= 0 {
		return ""
	}
	return why
}

// checkPolicy refuses an approval if the policy of today asks for people who are known better. It
// takes the risk that the question would have today.
func (c Consent) checkPolicy() error {
	q := *c.Question
	q.Raise(HigherRisk(c.Risk, c.Policy.RiskFloor(&q)), c.Policy)
	given := q.weakestApproval()
	if given == AssuranceLink {
		if err := c.Policy.CheckLink(&q); err != nil {
			return Errorf(CodeForbidden, "the approval came by a link, and the policy of today says: %s", err).WithHint("ask again")
		}
	}
	if q.LeastAssurance != "" && !given.AtLeast(q.LeastAssurance) {
		return Errorf(CodeForbidden, "the policy of today asks for %s, and the approval was given by somebody who was known by %s", q.LeastAssurance, given).
			WithHint("ask again")
	}
	if !q.MustBeSigned() {
		return nil
	}
	for _, id := range q.Approvers() {
		if !c.Signed[id] {
			return Errorf(CodeForbidden, "the policy of today asks for an approval that a passkey signed, and there is none that can be checked").
				WithHint("ask again")
		}
	}
	return nil
}

// weakestApproval returns the assurance of the approver who was known least.
func (q *Question) weakestApproval() Assurance {
	given := q.Resolution.Assurance
	for _, v := range q.Votes {
		if v.Value == Approve && !v.Assurance.AtLeast(given) {
			given = v.Assurance
		}
	}
	return given
}
