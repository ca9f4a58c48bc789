package fermata

import (
	"fmt"
	"slices"
	"strings"
)

// Assignment names the people who should answer a question.
type Assignment struct {
	Assignees []string `json:"assignees" maxItems:"50" doc:"handles, group:NAME, role:NAME; empty: any member who may answer"`
	Note      string   `json:"note,omitempty" maxLength:"20000" doc:"a comment for them, shown in the thread"`
}

// Assign assigns the question to other people. Operators may do so. People who
// may answer the question may do so as well, to delegate it. The argument
// members must hold all members of the workspace. Assign refuses a name that
// matches none of them, because such an assignee could never answer.
func (q *Question) Assign(a Assignment, c Caller, members []Member) error {
	if err := q.checkMayAssign(c); err != nil {
		return err
	}
	if q.isClosed() {
		return q.ClosedError()
	}
	var ps problems
	ps.checkAssignees("assignees", a.Assignees)
	ps.checkText("note", a.Note, 0, MaxMessage)
	for i, name := range a.Assignees {
		if !slices.ContainsFunc(members, func(m Member) bool { return m.matchesAssignee(name, q.Project) }) {
			ps.add(fmt.Sprintf("assignees[%d]", i), "%q is no member, no group and no role that anybody has", name)
		}
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	assigned := *q
	assigned.Assignees = nil
	for _, name := range a.Assignees {
		if !slices.Contains(assigned.Assignees, name) {
			assigned.Assignees = append(assigned.Assignees, name)
		}
	}
	if assigned.countEligible(members) == 0 {
		return Invalid(Problem{Field: "assignees", Message: "none of " + strings.Join(a.Assignees, ", ") + " may answer the question"})
	}
	if err := assigned.CheckQuorum(members); err != nil {
		return err
	}
	q.Assignees = assigned.Assignees
	return nil
}

func (q *Question) checkMayAssign(c Caller) error {
	err := q.CheckMayAnswer(c)
	if err == nil || c.Kind == ActorHuman && c.HasScope(ScopeAnswer) && c.RoleIn(q.Project).AtLeast(RoleOperator) {
		return nil
	}
	return err
}

// CheckMayComment returns nil if the caller may comment on a question without
// deciding it. Every person who may answer questions in the project may
// comment, even if the question is assigned to others.
func (q *Question) CheckMayComment(c Caller) error {
	if c.Kind == ActorHuman && c.HasScope(ScopeAnswer) && c.RoleIn(q.Project).AtLeast(RoleResponder) {
		return nil
	}
	return Errorf(CodeNotEligible, "only people who may answer questions comment on them").
		WithHint("an agent writes a message into the thread of its task")
}

// matchesAssignee reports whether an assignee's name matches the member in a project.
func (m *Member) matchesAssignee(name, project string) bool {
	return slices.Contains(m.Caller().AssigneeNames(), name) || name == "role:"+string(m.RoleIn(project))
}
