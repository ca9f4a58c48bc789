package fermata

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ProjectSet is a set of projects. If Only is true, it contains the named projects. Otherwise it contains every
// project except the named ones.
type ProjectSet struct {
	Only  bool
	Names []string
}

// Has reports whether the project is in the set.
func (s ProjectSet) Has(project string) bool { return slices.Contains(s.Names, project) == s.Only }

// HasAll reports whether the set contains every project, including projects that are created later.
func (s ProjectSet) HasAll() bool { return !s.Only && len(s.Names) == 0 }

// Intersect returns the projects that are in both sets.
func (s ProjectSet) Intersect(t ProjectSet) ProjectSet {
	switch {
	case s.Only:
		return ProjectSet{Only: true, Names: slices.DeleteFunc(slices.Clone(s.Names), func(name string) bool { return !t.Has(name) })}
	case t.Only:
		return t.Intersect(s)
	default:
		return ProjectSet{Names: slices.Concat(s.Names, t.Names)}
	}
}

// VisibleProjects returns the projects that the caller sees. For the caller, things in other projects do not exist:
// they are not found, listed or counted.
func (c Caller) VisibleProjects() ProjectSet {
	switch c.Kind {
	case ActorHuman:
		return c.projectsByRole()
	case ActorAgent:
		return ProjectSet{Only: len(c.TokenProjects) > 0, Names: c.TokenProjects}
	default:
		return ProjectSet{}
	}
}

// Sees reports whether the member may see the project. A disabled member sees no project.
func (m *Member) Sees(project string) bool {
	return m.DisabledAt == nil && m.Caller().VisibleProjects().Has(project)
}

// projectsByRole returns the projects in which a person has a role.
func (c Caller) projectsByRole() ProjectSet {
	set := ProjectSet{Only: c.Role == RoleNone}
	for _, project := range slices.Sorted(maps.Keys(c.Projects)) {
		if (c.RoleIn(project) != RoleNone) == set.Only {
			set.Names = append(set.Names, project)
		}
	}
	return set
}

// ProjectOr returns the named project. If the name is empty and an agent's token names exactly one project, it
// returns that project. Otherwise an empty name gives "", which means the default project.
func (c Caller) ProjectOr(name string) string {
	if name == "" && len(c.TokenProjects) == 1 {
		return c.TokenProjects[0]
	}
	return name
}

// checkVisible returns an error if the resource belongs to a project that the caller does not see. For a task, the
// error says that the task does not exist.
func (c Caller) checkVisible(resource Resource) error {
	if resource.kind != kindProject && resource.kind != kindEveryProject {
		return nil
	}
	visible := c.VisibleProjects()
	switch {
	case resource.kind == kindEveryProject && !visible.HasAll():
		return Errorf(CodeForbidden, "this is about every project, and you do not see every project").
			WithHint("ask somebody who does, such as an admin")
	case resource.kind == kindEveryProject || visible.Has(resource.name):
		return nil
	case resource.task != "":
		return NotFound("task", resource.task)
	case c.Kind == ActorAgent:
		return Errorf(CodeForbidden, "the token is not for the project %s", resource.name).
			WithHint("it is for %s", strings.Join(c.TokenProjects, ", "))
	default:
		return Errorf(CodeForbidden, "you have no role in the project %s", resource.name).
			WithHint("an admin can give you one: fermata member set %s --project %s=%s", c.Name, resource.name, RoleViewer)
	}
}

// VisibleRoles returns the caller's roles in single projects, without projects that the caller may not see.
func (c Caller) VisibleRoles() map[string]Role { return keepVisible(c.Projects, c) }

// HideProjectsFrom removes the member's roles in projects that the caller does not see.
func (m *Member) HideProjectsFrom(c Caller) {
	m.Projects = keepVisible(m.Projects, c)
}

// ViewFor returns the policy without the settings of projects that the caller does not see.
func (p Policy) ViewFor(c Caller) Policy {
	p.ProjectRisk = keepVisible(p.ProjectRisk, c)
	return p
}

// keepVisible returns the values of the projects that the caller sees. It returns nil if there are none.
func keepVisible[V any](byProject map[string]V, c Caller) map[string]V {
	visible := c.VisibleProjects()
	if visible.HasAll() {
		return byProject
	}
	var kept map[string]V
	for project, v := range byProject {
		if visible.Has(project) {
			if kept == nil {
				kept = map[string]V{}
			}
			kept[project] = v
		}
	}
	return kept
}

// ChangesRights reports whether the event ends the caller's token or session, or changes the rights of the member.
func (e *Event) ChangesRights(c Caller) bool {
	var changed struct {
		TokenID   string `json:"token_id"`
		SessionID string `json:"session_id"`
		MemberID  string `json:"member_id"`
	}
	switch e.Type {
	case EventTokenRevoked, EventMemberSignedOut, EventMemberChanged:
	default:
		return false
	}
	if json.Unmarshal(e.Data, &changed) != nil {
		return false
	}
	return e.Type == EventTokenRevoked && changed.TokenID == c.TokenID ||
		e.Type == EventMemberSignedOut && changed.SessionID == c.SessionID ||
		e.Type == EventMemberChanged && changed.MemberID == c.MemberID
}
