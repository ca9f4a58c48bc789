package fermata

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Urgency says whether work stops until a question is answered (docs/inside/contract.md#question-types).
type Urgency string

// Urgencies.
const (
	UrgencyHigh Urgency = "high"
	UrgencyLow  Urgency = "low"
)

// Urgency returns the urgency of questions of this type.
func (t QuestionType) Urgency() Urgency {
	if t.Suspends() {
		return UrgencyHigh
	}
	return UrgencyLow
}

// WaitingWork describes the work that stands still until a question is answered.
type WaitingWork struct {
	// Tasks is the number of tasks that wait. It counts the question's own
	// task, if the question suspends it, and the tasks that this task blocks.
	Tasks int       `json:"tasks"`
	Since time.Time `json:"since"`
}

// QuestionCounts holds numbers of pending questions.
type QuestionCounts struct {
	Pending   int                  `json:"pending"`
	Urgent    int                  `json:"urgent" doc:"of these, how many stop a task"`
	ByType    map[QuestionType]int `json:"by_type"`
	ByProject map[string]int       `json:"by_project"`
	// Snoozed counts snoozed questions. If the counts are for the caller's own
	// questions, Pending does not include them; otherwise it does.
	Snoozed int `json:"snoozed"`
	// Capped reports whether there are more questions than were counted. The
	// most urgent ones were counted.
	Capped bool `json:"capped,omitempty"`
}

// AssigneeNames returns the assignees that mean the caller in every project.
// Roles are not included, because they depend on the project: see
// [Caller.RolesByProject].
func (c Caller) AssigneeNames() []string {
	names := make([]string, 0, 4+len(c.Groups))
	for _, name := range []string{c.Name, c.MemberID} {
		if name != "" {
			names = append(names, name, "member:"+name)
		}
	}
	for _, group := range c.Groups {
		names = append(names, "group:"+group)
	}
	return names
}

// RolesByProject returns, by role, the projects in which the caller has a role
// other than the workspace role. The projects are sorted.
func (c Caller) RolesByProject() map[Role][]string {
	others := map[Role][]string{}
	for _, project := range slices.Sorted(maps.Keys(c.Projects)) {
		if role := c.RoleIn(project); role != c.Role {
			others[role] = append(others[role], project)
		}
	}
	return others
}

// CanAnswer reports whether the caller could answer any question at all.
// [Question.CheckMayAnswer] decides for each question.
func (c Caller) CanAnswer() bool {
	if c.Kind != ActorHuman || !c.HasScope(ScopeAnswer) {
		return false
	}
	for role := range c.RolesByProject() {
		if role.AtLeast(RoleResponder) {
			return true
		}
	}
	return c.Role.AtLeast(RoleResponder)
}

// ContainsText reports whether the question's title, body or prompts, or the title
// of its task, contain the text. It ignores case.
func (q *Question) ContainsText(text string) bool {
	text = strings.ToLower(text)
	contains := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return contains(q.Title) || contains(q.Body) || contains(q.TaskTitle) ||
		slices.ContainsFunc(q.Items, func(it Item) bool { return contains(it.Prompt) })
}
