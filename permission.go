package fermata

import (
	"cmp"
	"slices"
	"strings"
)

// Verb is an operation that needs a permission: one row of the permission
// table. Only this package creates verbs. The zero verb is refused to
// everybody.
type Verb struct{ row *permission }

// String returns the name of the verb.
func (v Verb) String() string {
	if v.row == nil {
		return ""
	}
	return v.row.Name
}

// ownRight is the right of people to their own things. It replaces the scopes and the role of the row.
type ownRight int

const (
	ownNever ownRight = iota
	// ownReads needs any one scope: people may read their own things.
	ownReads
	// ownActs needs a browser session or the scope answer. A token that can
	// only read or ask must not change its member's things.
	ownActs
)

// permission is one row of the table: who may do something, and with which rights.
type permission struct {
	Name, Description string
	// Scopes are the scopes of which the caller needs one.
	Scopes []Scope
	// Role is the lowest role that a person needs, in the project or in the workspace.
	Role Role
	// WholeWorkspace is set if the thing belongs to the workspace. Then roles in
	// projects do not count.
	WholeWorkspace bool
	// AllowsAgents is set if agents may do this with the scopes of their tokens.
	AllowsAgents bool
	// OwnTasksOnly is set if agents may do this only to their own tasks.
	OwnTasksOnly bool
	own          ownRight
	// NeedsSession is set if people may reach their own thing only in a browser session.
	NeedsSession bool
	// ExtraRule describes an additional rule that the table does not check.
	ExtraRule string
	// NeedsAdminAssurance is set if a person needs the assurance that the policy requires of admins. A verb that
	// needs the scope admin always needs it: see [Caller.ApplyPolicy].
	NeedsAdminAssurance bool
	// Operations are the ids of the HTTP API operations that do this.
	Operations []string
}

// Resource is the object of a verb. For the zero resource, a person is refused
// every verb that needs a role above viewer.
type Resource struct {
	kind   resourceKind
	name   string
	member string
	// task is the id of the task, if the resource belongs to one. agents are the
	// ids of the tokens that own the task. shared is set if every agent may reach
	// it.
	task   string
	agents []string
	shared bool
}

type resourceKind int

const (
	kindNone resourceKind = iota
	kindUnloaded
	kindProject
	kindWorkspace
	kindEveryProject
	kindMember
)

// Resources without a name.
var (
	// UnloadedResource is a resource that is not loaded yet. For it, only the
	// caller's kind and scopes are checked. The role must be checked once the
	// project is known.
	UnloadedResource = Resource{kind: kindUnloaded}
	// InWorkspace is the resource of things that belong to no project.
	InWorkspace = Resource{kind: kindWorkspace}
	// InEveryProject is the resource of things that affect all projects at
	// once. For it, the lowest of a person's roles counts.
	InEveryProject = Resource{kind: kindEveryProject}
)

// InProject returns the resource of things that belong to a project.
func InProject(name string) Resource {
	return Resource{kind: kindProject, name: cmp.Or(name, DefaultProject)}
}

// InTask returns the resource of things that belong to a task. Its agents are the
// agent that created the task, and the worker that claimed it last with that
// worker's agents. These agents also own its subtasks, so the ancestors must be
// all tasks above it.
func InTask(t *Task, ancestors ...*Task) Resource {
	resource := InProject(t.Project)
	// An older server claimed this task and did not record the worker's token.
	// Every agent may reach it, so that its run can go on.
	resource.shared = t.RunID != "" && t.WorkerTokenID == "" && !t.State.IsEnded()
	resource.task, resource.agents = t.ID, t.agents()
	for _, a := range ancestors {
		resource.agents = append(resource.agents, a.agents()...)
	}
	return resource
}

// agents returns the ids of the tokens whose agents own the task.
func (t *Task) agents() []string {
	all := []string{t.WorkerTokenID, t.AgentTokenID}
	if t.CreatedBy.Kind == ActorAgent {
		all = append(all, t.CreatedBy.ID)
	}
	return slices.DeleteFunc(all, func(token string) bool { return token == "" })
}

// Owns reports whether the task is the calling agent's own.
func (c Caller) Owns(t *Task) bool { return slices.Contains(t.agents(), c.TokenID) }

// OfMember returns the resource of things that belong to a person.
func OfMember(id string) Resource { return Resource{kind: kindMember, member: id} }

// OwnResource returns the resource of things that belong to the caller.
func (c Caller) OwnResource() Resource { return Resource{kind: kindMember, member: c.MemberID} }

// CheckPermission returns nil if the caller may do the verb to the resource, and
// otherwise an error with the reason. All permissions are checked by this one rule. The
// right to decide a question is checked in addition.
func (c Caller) CheckPermission(v Verb, resource Resource) error {
	p := v.row
	if p == nil {
		return Errorf(CodeForbidden, "this is permitted to nobody")
	}
	if p.own != ownNever && c.isMember(resource.member) {
		return c.checkOwnRight(p)
	}
	if err := c.checkVisible(resource); err != nil {
		return err
	}
	if err := c.checkKind(p, resource); err != nil {
		return err
	}
	if err := c.checkScopes(p); err != nil {
		return err
	}
	if err := c.checkRole(p, resource); err != nil {
		return err
	}
	if p.NeedsAdminAssurance && c.MissingAdminAssurance != "" {
		return c.strongerSignInError()
	}
	return nil
}

// ApplyPolicy returns the caller with the rights that the policy allows. A person with a weaker assurance than the
// policy requires of admins loses the scope admin and every verb with NeedsAdminAssurance.
func (c Caller) ApplyPolicy(p Policy) Caller {
	if c.Kind != ActorHuman || p.AdminAssurance == "" || c.Assurance.AtLeast(p.AdminAssurance) {
		return c
	}
	c.MissingAdminAssurance = p.AdminAssurance
	if c.HasScope(ScopeAdmin) {
		c.Scopes = []Scope{ScopeAsk, ScopeAnswer, ScopeWork, ScopeRead}
	}
	return c
}

// strongerSignInError returns the error for a caller whose assurance is too weak to administer.
func (c Caller) strongerSignInError() error {
	return Errorf(CodeForbidden, "the policy requires a stronger sign-in: yours is %s, and this requires %s", c.Assurance, c.MissingAdminAssurance).
		WithHint("sign in with a browser and do it there")
}

// isMember reports whether the caller is this person.
func (c Caller) isMember(id string) bool {
	return c.Kind == ActorHuman && c.MemberID != "" && c.MemberID == id
}

// checkOwnRight returns an error if the caller may not reach the caller's own things with these scopes or without a
// browser session.
func (c Caller) checkOwnRight(p *permission) error {
	switch {
	case c.HasScope(ScopeAdmin), c.SessionID != "", p.own == ownReads && len(c.Scopes) > 0:
		return nil
	case p.NeedsSession:
		return Errorf(CodeForbidden, "only people who signed in with a browser may %s", p.Description).WithHint("do it in the browser, or use an admin's token that was made with --scope admin")
	case p.own == ownActs && c.HasScope(ScopeAnswer):
		return nil
	}
	return c.missingScopeError(ScopeAnswer)
}

func (c Caller) checkKind(p *permission, resource Resource) error {
	if p.own != ownNever && resource.kind == kindMember && resource.member == "" {
		return Errorf(CodeForbidden, "only people have this; the token is an agent's")
	}
	if c.Kind == ActorAgent && !p.AllowsAgents && !slices.Contains(p.Scopes, ScopeAdmin) {
		return Errorf(CodeForbidden, "only people may %s; the token is an agent's", p.Description).
			WithHint("a person's token names the person: fermata token create NAME --member HANDLE --scope %s", p.Scopes[0])
	}
	if c.Kind == ActorAgent && p.OwnTasksOnly && resource.task != "" && !resource.shared && !slices.Contains(resource.agents, c.TokenID) {
		return Errorf(CodeForbidden, "the task %s is another agent's: this token may not %s there", resource.task, p.Description).
			WithHint("an agent has the tasks that its token made, and those of runs whose worker names the token with --agent-token")
	}
	return nil
}

func (c Caller) checkScopes(p *permission) error {
	if slices.ContainsFunc(p.Scopes, c.HasScope) {
		return nil
	}
	return c.missingScopeError(p.Scopes[0])
}

// CheckScope returns an error if the caller lacks the scope.
func (c Caller) CheckScope(s Scope) error {
	if c.HasScope(s) {
		return nil
	}
	return c.missingScopeError(s)
}

// missingScopeError returns the error for a caller without the scope.
func (c Caller) missingScopeError(s Scope) error {
	if s == ScopeAdmin && c.MissingAdminAssurance != "" && c.Role == RoleAdmin {
		return c.strongerSignInError()
	}
	holder := Member{Role: c.Role, Projects: c.Projects}
	if c.SessionID != "" || c.Kind == ActorHuman && !slices.Contains(holder.LimitScopes([]Scope{s}), s) {
		return Errorf(CodeForbidden, "the role %s does not have the right %s", c.Role, s).
			WithHint("ask an admin for another role: fermata member set %s --role ROLE", c.Name)
	}
	return Errorf(CodeForbidden, "the token does not have the scope %s", s).
		WithHint("an admin can make a token with it: fermata token create --scope %s", s)
}

// checkRole checks the role of a person. An agent is limited only by the scopes
// of its token, and the server itself is not limited.
func (c Caller) checkRole(p *permission, resource Resource) error {
	if c.Kind != ActorHuman || p.Role == "" || p.Role == RoleViewer || resource.kind == kindUnloaded {
		return nil
	}
	role, location := c.roleFor(p, resource)
	if role.AtLeast(p.Role) {
		return nil
	}
	if resource.kind == kindProject && !p.WholeWorkspace {
		return Errorf(CodeForbidden, "a %s may only read in the project %s", cmp.Or(role, RoleViewer), resource.name).withMissingRole(role, p, resource).
			WithHint("an admin can change that: fermata member set %s --project %s=%s", c.Name, resource.name, p.Role)
	}
	return Errorf(CodeForbidden, "only people with at least the role %s %s may %s", p.Role, location, p.Description).
		WithHint("sign in as one, or ask an admin for the role: fermata member set %s --role %s", c.Name, p.Role)
}

// withMissingRole returns an error that names the missing role, if the person's role permits more than reading.
// Otherwise it returns the error as it is.
func (e *Error) withMissingRole(role Role, p *permission, resource Resource) *Error {
	if role.AtLeast(RoleResponder) {
		return Errorf(CodeForbidden, "a %s in the project %s may not %s: it needs %s", role, resource.name, p.Description, p.Role)
	}
	return e
}

// roleFor returns the person's role for the resource, and the resource in words.
func (c Caller) roleFor(p *permission, resource Resource) (Role, string) {
	switch {
	case resource.kind == kindNone || resource.kind == kindMember && !p.WholeWorkspace:
		return "", "there"
	case resource.kind == kindEveryProject:
		return c.lowestRole(), "in every project"
	case resource.kind == kindProject && !p.WholeWorkspace:
		return c.RoleIn(resource.name), "in the project " + resource.name
	default:
		return c.Role, "in the whole workspace"
	}
}

// lowestRole returns the lowest role that the person has in any project.
func (c Caller) lowestRole() Role {
	lowest := c.Role
	if lowest == RoleAdmin {
		return lowest
	}
	for _, role := range c.Projects {
		if !role.AtLeast(lowest) {
			lowest = role
		}
	}
	return lowest
}

// VerbOf returns the verb of an HTTP API operation. It returns the zero verb if
// the table does not name the operation.
func VerbOf(operation string) Verb {
	for _, v := range Verbs() {
		if slices.Contains(v.row.Operations, operation) {
			return v
		}
	}
	return Verb{}
}

// Operations returns the ids of the HTTP API operations that need the verb.
func (v Verb) Operations() []string { return slices.Clone(v.row.Operations) }

// IsPersonal reports whether the verb is about a person's own things.
func (v Verb) IsPersonal() bool { return v.row != nil && v.row.own != ownNever }

// PermissionsPage returns the permission table as a page of the documentation, in Markdown.
func PermissionsPage() string {
	var b strings.Builder
	b.WriteString(permissionsHead)
	for _, v := range Verbs() {
		p := v.row
		b.WriteString("| `" + p.Name + "` | " + p.Description + " | " + p.scopesText() + " | " + p.roleText() + " | " + p.agentsText() + " | " +
			strings.Join(p.Operations, ", ") + " |\n")
	}
	return b.String()
}

func (p *permission) scopesText() string {
	names := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		names[i] = string(s)
	}
	text := strings.Join(names, " or ")
	switch {
	case p.own == ownReads:
		return "one's own: any; others': " + text
	case p.own == ownActs && p.NeedsSession:
		return "one's own: in a browser session; others': " + text
	case p.own == ownActs:
		return "one's own: answer, or in a browser session; others': " + text
	}
	return text
}

func (p *permission) roleText() string {
	text := string(cmp.Or(p.Role, RoleViewer))
	switch {
	case p.WholeWorkspace:
		text += " of the workspace"
	case p.Role != "" && p.Role != RoleViewer:
		text += " in the project"
	}
	if p.NeedsAdminAssurance {
		text += ", known as the policy asks of admins"
	}
	if p.ExtraRule != "" {
		text += "; " + p.ExtraRule
	}
	return text
}

func (p *permission) agentsText() string {
	if p.OwnTasksOnly {
		return "own tasks"
	}
	if p.AllowsAgents {
		return "yes"
	}
	return "no"
}
