package fermata

import (
	"cmp"
	"slices"
	"strings"
)

// Verb is something that a caller does: one row of the permission table. Only
// this package creates verbs. The zero verb is refused to everybody.
type Verb struct{ row *permission }

// String returns the name of the verb.
func (v Verb) String() string {
	if v.row == nil {
		return ""
	}
	return v.row.Name
}

// ownRight is the right of people to their own things, without the scopes of the row.
type ownRight int

const (
	ownNever ownRight = iota
	// ownReads needs no scope: people may read their own things.
	ownReads
	// ownActs needs a browser session or the scope answer. A token that can
	// only read or ask must not change its member's things.
	ownActs
)

// permission is one row of the table: who may do something, and with which rights.
type permission struct {
	Name, Does string
	// Scopes are the scopes of which the caller needs one.
	Scopes []Scope
	// Role is the lowest role that a person needs, in the project or in the workspace.
	Role Role
	// Whole is set if the thing belongs to the workspace. Then roles in
	// projects do not count.
	Whole bool
	// Agents is set if agents may do this with the scopes of their tokens.
	Agents bool
	// Apart is set if agents may do this only to their own tasks.
	Apart bool
	own   ownRight
	// Session is set if people may reach their own thing only in a browser session.
	Session bool
	// Beside names an additional rule of the thing itself.
	Beside string
	// Guarded is set if a person needs the assurance that the policy requires of admins. A verb that needs the scope
	// admin is always guarded.
	Guarded bool
	// Calls are the ids of the HTTP API operations that do this.
	Calls []string
}

// Place is where a verb is done. The zero place is nowhere: it refuses every
// verb that needs a role.
type Place struct {
	kind   placeKind
	name   string
	member string
	// task is the id of the task at this place. agents are the ids of the
	// tokens that own the task. shared is set if every agent may reach it.
	task   string
	agents []string
	shared bool
}

type placeKind int

const (
	nowhere placeKind = iota
	somewhere
	inProject
	inWorkspace
	everywhere
	atMember
)

// Places without a name.
var (
	// Somewhere is the place before the thing is loaded. Only kind and scope
	// are checked there. The role must be checked once the project is known.
	Somewhere = Place{kind: somewhere}
	// InWorkspace is the place of things that belong to no project.
	InWorkspace = Place{kind: inWorkspace}
	// InEveryProject is the place of things that affect all projects at once.
	// The lowest of a person's roles counts there.
	InEveryProject = Place{kind: everywhere}
)

// InProject returns the place of things that belong to a project.
func InProject(name string) Place {
	return Place{kind: inProject, name: cmp.Or(name, DefaultProject)}
}

// InTask returns the place of things that belong to a task. Its agents are the
// agent that created the task, and the worker that claimed it last with that
// worker's agents. These agents also own its subtasks, so the ancestors must be
// all tasks above it.
func InTask(t *Task, ancestors ...*Task) Place {
	at := InProject(t.Project)
	// An older server claimed this task and did not record the worker's token.
	// Every agent may reach it, so that its run can go on.
	at.shared = t.RunID != "" && t.WorkerTokenID == "" && !t.State.IsEnded()
	at.task, at.agents = t.ID, t.agents()
	for _, a := range ancestors {
		at.agents = append(at.agents, a.agents()...)
	}
	return at
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

// OfMember returns the place of things that belong to a person.
func OfMember(id string) Place { return Place{kind: atMember, member: id} }

// OwnPlace returns the place of things that belong to the caller.
func (c Caller) OwnPlace() Place { return Place{kind: atMember, member: c.MemberID} }

// May returns nil if the caller may do the verb at the place, and otherwise an
// error with the reason. All permissions are checked by this one rule. The
// right to decide a question is checked in addition.
func (c Caller) May(v Verb, at Place) error {
	p := v.row
	if p == nil {
		return Errorf(CodeForbidden, "this is permitted to nobody")
	}
	if p.own != ownNever && c.isMember(at.member) {
		return c.mayOwn(p)
	}
	if err := c.maySee(at); err != nil {
		return err
	}
	if err := c.mayAsKind(p, at); err != nil {
		return err
	}
	if err := c.mayByScope(p); err != nil {
		return err
	}
	if err := c.mayByRole(p, at); err != nil {
		return err
	}
	if p.Guarded && c.AdminNeeds != "" {
		return c.mustSignIn()
	}
	return nil
}

// Under returns the caller with the rights that the policy allows. A person with a weaker assurance than the policy
// requires of admins loses the scope admin and every guarded verb.
func (c Caller) Under(p Policy) Caller {
	if c.Kind != ActorHuman || p.AdminAssurance == "" || c.Assurance.AtLeast(p.AdminAssurance) {
		return c
	}
	c.AdminNeeds = p.AdminAssurance
	if c.Has(ScopeAdmin) {
		c.Scopes = []Scope{ScopeAsk, ScopeAnswer, ScopeWork, ScopeRead}
	}
	return c
}

// mustSignIn returns the error for a caller whose assurance is too weak to administer.
func (c Caller) mustSignIn() error {
	return Errorf(CodeForbidden, "the policy asks for more to do this: you are known by %s, and it needs %s", c.Assurance, c.AdminNeeds).
		WithHint("sign in with a browser and do it there")
}

// isMember reports whether the caller is this person.
func (c Caller) isMember(id string) bool {
	return c.Kind == ActorHuman && c.MemberID != "" && c.MemberID == id
}

// mayOwn checks the rights that the caller needs to reach the caller's own things.
func (c Caller) mayOwn(p *permission) error {
	switch {
	case c.Has(ScopeAdmin), c.SessionID != "", p.own == ownReads && len(c.Scopes) > 0:
		return nil
	case p.Session:
		return Errorf(CodeForbidden, "only who is signed in in a browser may %s", p.Does).WithHint("or an admin's token: --scope admin")
	case p.own == ownActs && c.Has(ScopeAnswer):
		return nil
	}
	return c.missingScope(ScopeAnswer)
}

func (c Caller) mayAsKind(p *permission, at Place) error {
	if p.own != ownNever && at.kind == atMember && at.member == "" {
		return Errorf(CodeForbidden, "only people have this; the token is an agent's")
	}
	if c.Kind == ActorAgent && !p.Agents && !slices.Contains(p.Scopes, ScopeAdmin) {
		return Errorf(CodeForbidden, "only people may %s; the token is an agent's", p.Does).
			WithHint("a person's token names the person: fermata token create NAME --member HANDLE --scope %s", p.Scopes[0])
	}
	if c.Kind == ActorAgent && p.Apart && at.task != "" && !at.shared && !slices.Contains(at.agents, c.TokenID) {
		return Errorf(CodeForbidden, "the task %s is another agent's: this token may not %s there", at.task, p.Does).
			WithHint("an agent has the tasks that its token made, and those of runs whose worker names the token with --agent-token")
	}
	return nil
}

func (c Caller) mayByScope(p *permission) error {
	if slices.ContainsFunc(p.Scopes, c.Has) {
		return nil
	}
	return c.missingScope(p.Scopes[0])
}

// Needs returns an error if the caller lacks the scope.
func (c Caller) Needs(s Scope) error {
	if c.Has(s) {
		return nil
	}
	return c.missingScope(s)
}

// missingScope returns the error for a caller without the scope.
func (c Caller) missingScope(s Scope) error {
	if s == ScopeAdmin && c.AdminNeeds != "" && c.Role == RoleAdmin {
		return c.mustSignIn()
	}
	if c.SessionID != "" {
		return Errorf(CodeForbidden, "the role %s does not have the right %s", c.Role, s).
			WithHint("ask an admin for another role: fermata member set %s --role ROLE", c.Name)
	}
	return Errorf(CodeForbidden, "the token does not have the scope %s", s).
		WithHint("an admin can make a token with it: fermata token create --scope %s", s)
}

// mayByRole checks the role of a person. An agent is limited only by the scopes
// of its token, and the server itself is not limited.
func (c Caller) mayByRole(p *permission, at Place) error {
	if c.Kind != ActorHuman || p.Role == "" || p.Role == RoleViewer || at.kind == somewhere {
		return nil
	}
	role, where := c.roleAt(p, at)
	if role.AtLeast(p.Role) {
		return nil
	}
	if at.kind == inProject && !p.Whole {
		return Errorf(CodeForbidden, "a %s may only read in the project %s", cmp.Or(role, RoleViewer), at.name).explain(role, p, at).
			WithHint("an admin can change that: fermata member set %s --project %s=%s", c.Name, at.name, p.Role)
	}
	return Errorf(CodeForbidden, "only who is %s %s may %s", p.Role, where, p.Does).
		WithHint("sign in as one, or ask an admin for the role: fermata member set %s --role %s", c.Name, p.Role)
}

// explain returns the error with the missing role, if the person's role permits
// more than to read.
func (e *Error) explain(role Role, p *permission, at Place) *Error {
	if role.AtLeast(RoleResponder) {
		return Errorf(CodeForbidden, "a %s in the project %s may not %s: it needs %s", role, at.name, p.Does, p.Role)
	}
	return e
}

// roleAt returns the person's role at the place, and the place in words.
func (c Caller) roleAt(p *permission, at Place) (Role, string) {
	switch {
	case at.kind == nowhere || at.kind == atMember && !p.Whole:
		return "", "there"
	case at.kind == everywhere:
		return c.lowestRole(), "in every project"
	case at.kind == inProject && !p.Whole:
		return c.RoleIn(at.name), "in the project " + at.name
	default:
		return c.Role, "of the whole workspace"
	}
}

// lowestRole returns the lowest role that the person has in any project.
func (c Caller) lowestRole() Role {
	least := c.Role
	if least == RoleAdmin {
		return least
	}
	for _, role := range c.Projects {
		if !role.AtLeast(least) {
			least = role
		}
	}
	return least
}

// VerbOf returns the verb of an HTTP API operation. It returns the zero verb if
// the table does not name the operation.
func VerbOf(operation string) Verb {
	for _, v := range Verbs() {
		if slices.Contains(v.row.Calls, operation) {
			return v
		}
	}
	return Verb{}
}

// Calls returns the ids of the HTTP API operations that need the verb.
func (v Verb) Calls() []string { return slices.Clone(v.row.Calls) }

// OfPersons reports whether the verb is about a person's own things.
func (v Verb) OfPersons() bool { return v.row != nil && v.row.own != ownNever }

// PermissionsPage returns the permission table as a page of the documentation, in Markdown.
func PermissionsPage() string {
	var b strings.Builder
	b.WriteString(permissionsHead)
	for _, v := range Verbs() {
		p := v.row
		b.WriteString("| `" + p.Name + "` | " + p.Does + " | " + p.scopesText() + " | " + p.roleText() + " | " + p.agentsText() + " | " +
			strings.Join(p.Calls, ", ") + " |\n")
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
	case p.own == ownActs && p.Session:
		return "one's own: in a browser session; others': " + text
	case p.own == ownActs:
		return "one's own: answer, or in a browser session; others': " + text
	}
	return text
}

func (p *permission) roleText() string {
	text := string(cmp.Or(p.Role, RoleViewer))
	switch {
	case p.Whole:
		text += " of the workspace"
	case p.Role != "" && p.Role != RoleViewer:
		text += " in the project"
	}
	if p.Guarded {
		text += ", known as the policy asks of admins"
	}
	if p.Beside != "" {
		text += "; " + p.Beside
	}
	return text
}

func (p *permission) agentsText() string {
	if p.Apart {
		return "own tasks"
	}
	if p.Agents {
		return "yes"
	}
	return "no"
}
