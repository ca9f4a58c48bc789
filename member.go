package fermata

import (
	"net/mail"
	"slices"
	"strings"
	"time"
)

// Limits of the fields of members and groups.
const (
	MaxMemberName     = 100
	MaxEmail          = 254
	MaxGroupsOfMember = 50
	MaxProjectRoles   = 200
)

// Member is a person in a workspace.
type Member struct {
	ID     string `json:"id"`
	Handle string `json:"handle" doc:"unique in the workspace; what assignees name"`
	// Name is the name that people read. If it is empty, they read the handle.
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty" doc:"unique in the workspace; where sign-in links go"`
	Role  Role   `json:"role" enum:"none,viewer,responder,operator,admin" doc:"where projects says nothing else; none sees the named projects only"`
	// Projects holds roles for single projects.
	Projects   map[string]Role `json:"projects,omitempty" doc:"role by project"`
	Groups     []string        `json:"groups,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	DisabledAt *time.Time      `json:"disabled_at,omitempty" doc:"since when the member may not sign in"`

	// Subject is the member's issuer and subject at the identity provider. It
	// is set at the first sign-in there.
	Subject string `json:"-"`
}

// RoleIn returns the member's role in a project.
func (m *Member) RoleIn(project string) Role { return roleIn(m.Role, m.Projects, project) }

// highestRole returns the highest role that the member has in any project.
func (m *Member) highestRole() Role {
	most := m.Role
	for _, role := range m.Projects {
		if role.AtLeast(most) {
			most = role
		}
	}
	return most
}

// Scopes returns the scopes of the member's own sessions. In each project,
// [Member.RoleIn] limits them further.
func (m *Member) Scopes() []Scope {
	switch m.highestRole() {
	case RoleAdmin:
		if m.Role == RoleAdmin {
			return []Scope{ScopeAdmin}
		}
		return []Scope{ScopeRead, ScopeAsk, ScopeAnswer, ScopeWork}
	case RoleOperator:
		return []Scope{ScopeRead, ScopeAsk, ScopeAnswer, ScopeWork}
	case RoleResponder:
		return []Scope{ScopeRead, ScopeAsk, ScopeAnswer}
	default:
		return []Scope{ScopeRead}
	}
}

// LimitScopes reduces the scopes of a member's token to the current rights of
// the member. It is needed because a token outlives the role that its member
// had when the token was created.
func (m *Member) LimitScopes(scopes []Scope) []Scope {
	kept := make([]Scope, 0, len(scopes))
	for _, s := range scopes {
		switch s {
		case ScopeAdmin:
			if m.Role != RoleAdmin {
				// A former admin's token gets the rights of the current role.
				return m.Scopes()
			}
		case ScopeRead:
		default:
			if !m.highestRole().AtLeast(RoleResponder) {
				s = ScopeRead
			}
		}
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Caller returns the member as a caller over a channel. Use it to check what
// the member may do.
func (m *Member) Caller() Caller {
	return Caller{
		Kind: ActorHuman, MemberID: m.ID, Name: m.Handle, Role: m.Role, Projects: m.Projects, Groups: m.Groups,
		Scopes: m.Scopes(), Assurance: AssuranceChannel,
	}
}

// Actor returns the member in the form that events store.
func (m *Member) Actor() Actor { return Actor{Kind: ActorHuman, ID: m.ID, Name: m.Handle} }

// Check returns an error that lists every problem of the member.
func (m *Member) Check() error {
	var ps problems
	if m.Handle == "" {
		ps.add("handle", "must not be empty")
	}
	ps.checkName("handle", m.Handle)
	ps.checkPerson(m.Name, m.Email, m.Role, m.Projects, m.Groups)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// checkPerson checks the fields that members and invitations have in common.
func (ps *problems) checkPerson(name, email string, role Role, projects map[string]Role, groups []string) {
	ps.checkText("name", name, 0, MaxMemberName)
	if email != "" && CanonicalEmail(email) != email {
		ps.add("email", "is no e-mail address")
	}
	if !slices.Contains(Roles, role) && role != RoleNone {
		ps.add("role", "is %q, must be one of none, viewer, responder, operator, admin", role)
	}
	if len(projects) > MaxProjectRoles {
		ps.add("projects", "has %d roles, may have at most %d", len(projects), MaxProjectRoles)
	}
	for project, role := range projects {
		if project == "" {
			ps.add("projects", "names an empty project")
		}
		ps.checkName("projects."+project, project)
		if !slices.Contains(Roles, role) && role != RoleNone || role == RoleAdmin {
			ps.add("projects."+project, "is %q, must be one of none, viewer, responder, operator; an admin is one everywhere", role)
		}
	}
	if len(groups) > MaxGroupsOfMember {
		ps.add("groups", "has %d groups, may have at most %d", len(groups), MaxGroupsOfMember)
	}
	for _, g := range groups {
		ps.checkGroup("groups", g)
	}
}

// checkGroup checks the name of a group.
func (ps *problems) checkGroup(field, name string) {
	ps.checkText(field, name, 1, 64)
	if strings.ContainsAny(name, ",\r\n\t") || strings.TrimSpace(name) != name {
		ps.add(field, "may have no comma, no line break and no space around it")
	}
}

// CanonicalEmail returns the canonical spelling of a mail address, or "" if the
// text is not a plain address.
func CanonicalEmail(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > MaxEmail || strings.ContainsAny(s, "\r\n\x00") {
		return ""
	}
	return s
}

// MemberChange is a request to change a member. A nil field leaves its value as it is.
type MemberChange struct {
	Name  *string `json:"name,omitempty" maxLength:"100"`
	Email *string `json:"email,omitempty" maxLength:"254" doc:"empty takes it away"`
	Role  *Role   `json:"role,omitempty" enum:"none,viewer,responder,operator,admin"`
	// Groups and Projects replace the whole list. If they are absent, the list stays.
	Groups   []string        `json:"groups,omitzero" required:"false" doc:"replaces all; empty leaves every group"`
	Projects map[string]Role `json:"projects,omitzero" required:"false" doc:"role by project; replaces all"`
	Disabled *bool           `json:"disabled,omitempty" doc:"true ends the member's sessions and tokens"`
}

// Apply applies the change to the member. It returns an error if the changed
// member is not valid.
func (ch MemberChange) Apply(m *Member, now time.Time) error {
	if ch.Name != nil {
		m.Name = strings.TrimSpace(*ch.Name)
	}
	if ch.Email != nil {
		m.Email = strings.ToLower(strings.TrimSpace(*ch.Email))
	}
	if ch.Role != nil {
		m.Role = *ch.Role
	}
	if ch.Groups != nil {
		m.Groups = SortUnique(ch.Groups)
	}
	if ch.Projects != nil {
		m.Projects = ch.Projects
	}
	if ch.Disabled != nil && *ch.Disabled != (m.DisabledAt != nil) {
		m.DisabledAt = nil
		if *ch.Disabled {
			m.DisabledAt = &now
		}
	}
	return m.Check()
}

// ChangesOnlyName reports whether the change sets nothing except the name. All members
// may change their own name.
func (ch MemberChange) ChangesOnlyName() bool {
	return ch.Email == nil && ch.Role == nil && ch.Groups == nil && ch.Projects == nil && ch.Disabled == nil
}

// SortUnique returns the texts sorted and without duplicates. It returns nil if
// there are none.
func SortUnique(texts []string) []string {
	var out []string
	for _, s := range texts {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// HandlesByID returns the handles of the members by their ids.
func HandlesByID(members []*Member) map[string]string {
	handles := make(map[string]string, len(members))
	for _, m := range members {
		handles[m.ID] = m.Handle
	}
	return handles
}

// Group is a named set of people. A question may be assigned to a group.
type Group struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Members are the handles of the people in the group.
	Members   []string   `json:"members"`
	CreatedAt *time.Time `json:"created_at,omitempty" doc:"absent where only members name it"`
}

// NewGroup is a request to create a group.
type NewGroup struct {
	Name        string   `json:"name" minLength:"1" maxLength:"64"`
	Description string   `json:"description,omitempty" maxLength:"500"`
	Members     []string `json:"members,omitempty" maxItems:"1000" doc:"handles"`
}

// Check returns an error that lists every problem of the request.
func (n NewGroup) Check() error {
	var ps problems
	ps.checkGroup("name", n.Name)
	ps.checkText("description", n.Description, 0, 500)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// GroupChange is a request to change a group. A nil field leaves its value as it is.
type GroupChange struct {
	Name        *string  `json:"name,omitempty" minLength:"1" maxLength:"64"`
	Description *string  `json:"description,omitempty" maxLength:"500"`
	Members     []string `json:"members,omitzero" required:"false" maxItems:"1000" doc:"handles; replaces all"`
}
