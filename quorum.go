package fermata

import (
	"slices"
	"strings"
)

func (a Ask) setQuorum(ps *problems, q *Question) {
	if q.Risk == "" {
		q.Risk = RiskLow
	}
	if a.Approvals == nil {
		return
	}
	if q.Type != Approval {
		ps.add("approvals", "belongs to a question of type approval")
		return
	}
	quorum := *a.Approvals
	if quorum.Required == 0 {
		quorum.Required = 1
	}
	if quorum.Reject == "" {
		quorum.Reject = "first"
	}
	ps.checkRange("approvals.required", quorum.Required, 1, 50)
	ps.checkOneOf("approvals.reject", quorum.Reject, []string{"first", "majority"})
	q.Approvals = &quorum
}

// CheckQuorum refuses a question that can never get its required approvals. The
// argument must hold all members of the workspace.
func (q *Question) CheckQuorum(members []Member) error {
	if q.Approvals == nil {
		return nil
	}
	eligible := q.countEligible(members)
	if eligible >= q.Approvals.Required {
		return nil
	}
	e := Errorf(CodeQuorumUnreachable, "too few people may approve: %d required, %d may", q.Approvals.Required, eligible)
	withSelf := *q
	withSelf.Approvals = &Quorum{Self: true}
	if withSelf.countEligible(members) > eligible {
		return e.WithHint("let the person who asks approve, too: approvals.self (--self-approval)")
	}
	return e.WithHint("name more assignees, or require fewer approvals")
}

// CheckAssignees refuses a question that none of its assignees may answer, at
// once or at a level of its escalation. Nobody could ever answer such a
// question. The argument must hold all members of the workspace.
func (q *Question) CheckAssignees(members []Member) error {
	if len(q.Assignees) == 0 {
		return nil
	}
	escalated := *q
	for _, level := range q.Escalation {
		escalated.Assignees = slices.Concat(escalated.Assignees, level.Assignees)
	}
	if escalated.countEligible(members) > 0 {
		return nil
	}
	return Invalid(Problem{Field: "assignees", Message: "none of " + strings.Join(escalated.Assignees, ", ") + " may answer the question"}).
		WithHint("name people who may: fermata member list; assignees are handles, group:NAME or role:NAME")
}

// ReassignToOperators assigns the question to operators and admins if none of its assignees may answer, at once or at
// a level of its escalation. It reports whether it did so. If no operator or admin may answer either, it leaves the
// question as it is. The argument must hold all members of the workspace.
func (q *Question) ReassignToOperators(members []Member) bool {
	if q.CheckAssignees(members) == nil {
		return false
	}
	reassigned := *q
	reassigned.Assignees = []string{"role:" + string(RoleOperator), "role:" + string(RoleAdmin)}
	if reassigned.countEligible(members) == 0 {
		return false
	}
	q.Assignees = reassigned.Assignees
	return true
}

// countEligible returns the number of people who may answer the question.
func (q *Question) countEligible(members []Member) int {
	n := 0
	for _, m := range members {
		if m.DisabledAt == nil && q.CheckMayAnswer(m.Caller()) == nil {
			n++
		}
	}
	return n
}
