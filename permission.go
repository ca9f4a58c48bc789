package fermata

import (
	"cmp"
	"slices"
	"strings"
)

// Verb is something that a caller does: one row of the table of permissions.
// Only this package makes verbs, and the zero verb is refused to everybody.
type Verb struct{ row *permission }

// String is the name of the verb.
func (v Verb) String() string {
	if v.row == nil {
		return ""
	}
	return v.row.Name
}

// ownRight is what persons may do with what is their own, without the scopes
// of the row.
type ownRight int

const (
	ownNever ownRight = iota
	// ownReads asks for nothing: the person reads.
	ownReads
	// ownActs asks for a browser session or the scope answer: a token that only
	// reads or asks changes nothing of its person.
	ownActs
)

// permission is one row: who may do something, and what it takes.
type permission struct {
	Name, Does string
	// Scopes are those of which the caller has one.
	Scopes []Scope
	// Role is the least that a person is, in the project or in the workspace.
	Role Role
	// Whole says that the thing is the workspace's, and no role in a project counts.
	Whole bool
	// Agents says that agents may, by the scopes of their tokens.
	Agents bool
	// Apart says that agents reach their own tasks only.
	Apart bool
	own   ownRight
	// Session says that the own thing is reached in a browser only.
	Session bool
	// Beside names a rule of the thing itself that must hold as well.
	Beside string
	// Guarded says that a person must be known as strongly as the policy asks of admins. What needs the scope admin is guarded
	// without it.
	Guarded bool
	// Calls are the operations of the HTTP API, by id.
	Calls []string
}

// Place is where a verb is done. The zero place is no place: every verb that
// asks for a role is refused there.
type Place struct {
	kind   placeKind
	name   string
	member string
	// task is the one that it is about; agents are the tokens whose own it is. shared says that every agent may reach it.
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

// Places that are not named.
var (
	// Somewhere asks what can be asked before the thing is loaded: kind and
	// scope. The role is asked once its project is known.
	Somewhere = Place{kind: somewhere}
	// InWorkspace is what belongs to no project.
	InWorkspace = Place{kind: inWorkspace}
	// InEveryProject is what works in all projects at once: the lowest of a
	// person's roles counts.
	InEveryProject = Place{kind: everywhere}
)

// InProject is what belongs to a project.
func InProject(name string) Place {
	return Place{kind: inProject, name: cmp.Or(name, DefaultProject)}
}

// InTask is what belongs to a task: to its project, to the agent that made it,
// and to the worker that claimed it last and that worker's agents. These agents own
// its subtasks, too: the ancestors are the tasks above it.
func InTask(t *Task, ancestors ...*Task) Place {
	at := InProject(t.Project)
	// An older server claimed it and noted no holder: its run goes on.
	at.shared = t.RunID != "" && t.WorkerTokenID == "" && !t.State.IsEnded()
	at.task, at.agents = t.ID, t.agents()
	for _, a := range ancestors {
		at.agents = append(at.agents, a.agents()...)
	}
	return at
}

// agents are the tokens of the agents whose own the task is.
func (t *Task) agents() []string {
	all := []string{t.WorkerTokenID, t.AgentTokenID}
	if t.CreatedBy.Kind == ActorAgent {
		all = append(all, t.CreatedBy.ID)
	}
	return slices.DeleteFunc(all, func(token string) bool { return token == "" })
}

// Owns reports whether the task is an agent's own.
func (c Caller) Owns(t *Task) bool { return slices.Contains(t.agents(), c.TokenID) }

// OfMember is what belongs to a person.
func OfMember(id string) Place { return Place{kind: atMember, member: id} }

// OwnPlace is what belongs to the caller himself.
func (c Caller) OwnPlace() Place { return Place{kind: atMember, member: c.MemberID} }

// May says why the caller may not do something there, nil where he may. It is
// the one rule of who may what; who may decide a question is asked besides.
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

// Under returns the caller as the policy lets him be. A person who is known less strongly than it asks of admins has neither the
// scope admin nor a verb that is Guarded.
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

// mustSignIn refuses who is not known strongly enough to administer.
func (c Caller) mustSignIn() error {
	return Errorf(CodeForbidden, "the policy asks for more to do this: you are known by %s, and it needs %s", c.Assurance, c.AdminNeeds).
		WithHint("sign in with a browser and do it there")
}

// isMember reports whether the caller is the person.
func (c Caller) isMember(id string) bool {
	return c.Kind == ActorHuman && c.MemberID != "" && c.MemberID == id
}

// mayOwn asks what it takes to reach what is one's own.
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

// Needs refuses a caller without the scope.
func (c Caller) Needs(s Scope) error {
	if c.Has(s) {
		return nil
	}
	return c.missingScope(s)
}

// missingScope refuses a caller without the scope.
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

// mayByRole asks the role of a person. Agents are bounded by the scopes of
// their tokens, and the server itself by nothing.
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

// explain names the role that is missing where reading is not all that is left.
func (e *Error) explain(role Role, p *permission, at Place) *Error {
	if role.AtLeast(RoleResponder) {
		return Errorf(CodeForbidden, "a %s in the project %s may not %s: it needs %s", role, at.name, p.Does, p.Role)
	}
	return e
}

// roleAt returns what a person is there, and the place in words.
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

// lowestRole returns the least that a person may do in any project.
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

// VerbOf returns the verb of an operation of the HTTP API; the zero verb where
// the table names none.
func VerbOf(operation string) Verb {
	for _, v := range Verbs() {
		if slices.Contains(v.row.Calls, operation) {
			return v
		}
	}
	return Verb{}
}

// Calls lists the operations of the HTTP API that do it, by id.
func (v Verb) Calls() []string { return slices.Clone(v.row.Calls) }

// OfPersons reports whether the verb is about what is a person's own.
func (v Verb) OfPersons() bool { return v.row != nil && v.row.own != ownNever }

// PermissionsPage is the table as a page of the documentation.
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
