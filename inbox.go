package fermata

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Urgency says whether work stops until a question is answered (spec §4.1).
type Urgency string

// Urgencies.
const (
	UrgencyHigh Urgency = "high"
	UrgencyLow  Urgency = "low"
)

// Urgency returns how urgent questions of the type are.
func (t QuestionType) Urgency() Urgency {
	if t.Suspends() {
		return UrgencyHigh
	}
	return UrgencyLow
}

// Waiting says what stands still until a question is answered.
type Waiting struct {
	// Tasks is how many: the question's own, if it is suspended on it, and with
	// it those that are blocked by that task.
	Tasks int       `json:"tasks"`
	Since time.Time `json:"since"`
}

// QuestionCounts says how many pending questions there are.
type QuestionCounts struct {
	Pending   int                  `json:"pending"`
	Urgent    int                  `json:"urgent" doc:"of these, how many stop a task"`
	ByType    map[QuestionType]int `json:"by_type"`
	ByProject map[string]int       `json:"by_project"`
	// Snoozed are beside the pending ones where the caller's own are counted,
	// else among them.
	Snoozed int `json:"snoozed"`
	// Capped says that there are more: the most urgent ones were counted.
	Capped bool `json:"capped,omitempty"`
}

// Names are the names by which assignees may mean the caller in every project.
// What a role means depends on the project: see [Caller.RolesByProject].
func (c Caller) Names() []string {
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

// RolesByProject returns the projects in which the caller has another role than
// elsewhere, by that role, in order.
func (c Caller) RolesByProject() map[Role][]string {
	others := map[Role][]string{}
	for _, project := range slices.Sorted(maps.Keys(c.Projects)) {
		if role := c.RoleIn(project); role != c.Role {
			others[role] = append(others[role], project)
		}
	}
	return others
}

// CanAnswer reports whether there may be questions that the caller may answer;
// [Question.MayAnswer] decides each.
func (c Caller) CanAnswer() bool {
	if c.Kind != ActorHuman || !c.Has(ScopeAnswer) {
		return false
	}
	for role := range c.RolesByProject() {
		if role.AtLeast(RoleResponder) {
			return true
		}
	}
	return c.Role.AtLeast(RoleResponder)
}

// Mentions reports whether the question or its task says the text anywhere
// that people read, in whatever case.
func (q *Question) Mentions(text string) bool {
	text = strings.ToLower(text)
	says := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return says(q.Title) || says(q.Body) || says(q.TaskTitle) ||
		slices.ContainsFunc(q.Items, func(it Item) bool { return says(it.Prompt) })
}
