package fermata

import (
	"slices"
	"time"
)

// ActorKind is the kind of party that did something.
type ActorKind string

// Kinds of actors.
const (
	ActorHuman   ActorKind = "human"
	ActorAgent   ActorKind = "agent"
	ActorSystem  ActorKind = "system"
	ActorPolicy  ActorKind = "policy"
	ActorTimeout ActorKind = "timeout"
)

// ActorKinds lists every kind of actor.
var ActorKinds = []ActorKind{ActorHuman, ActorAgent, ActorSystem, ActorPolicy, ActorTimeout}

// Actor is the party that did something. Time and rules are actors of their own
// kind, so that their decisions never look like a person's decision.
type Actor struct {
	Kind ActorKind `json:"kind" enum:"human,agent,system,policy,timeout"`
	// ID is the id of a member or a token. It is empty for system, policy and timeout.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Is reports whether both are the same person, agent or other actor. It ignores
// names, since people change them.
func (a Actor) Is(other Actor) bool { return a.Kind == other.Kind && a.ID == other.ID }

// DisplayName returns the actor's name on one line, or its kind if it has no name.
func (a Actor) DisplayName() string {
	if name := oneLine(a.Name); name != "" {
		return name
	}
	return string(a.Kind)
}

// Actors without an identity.
var (
	SystemActor  = Actor{Kind: ActorSystem}
	PolicyActor  = Actor{Kind: ActorPolicy}
	TimeoutActor = Actor{Kind: ActorTimeout}
)

// Role is what a member may do in a workspace.
type Role string

// Roles, from least to most.
const (
	// RoleNone lets a person see nothing. As a role in a project, it hides that project. As a role in the workspace,
	// it hides every project in which the person has no other role.
	RoleNone      Role = "none"
	RoleViewer    Role = "viewer"
	RoleResponder Role = "responder"
	RoleOperator  Role = "operator"
	RoleAdmin     Role = "admin"
)

// Roles lists every role that can see a project, from the least rights to the most.
var Roles = []Role{RoleViewer, RoleResponder, RoleOperator, RoleAdmin}

// AtLeast reports whether r includes all rights of minimum.
func (r Role) AtLeast(minimum Role) bool {
	return slices.Index(Roles, r) >= slices.Index(Roles, minimum)
}

// Scope is a right of a token.
type Scope string

// Scopes of tokens.
const (
	ScopeAsk    Scope = "ask"
	ScopeAnswer Scope = "answer"
	ScopeWork   Scope = "work"
	ScopeRead   Scope = "read"
	ScopeAdmin  Scope = "admin"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeAsk, ScopeAnswer, ScopeWork, ScopeRead, ScopeAdmin}

// Assurance is how strongly a person proved their identity (docs/inside/contract.md#who-may-answer).
type Assurance string

// Assurances, from weakest to strongest.
const (
	AssuranceLink    Assurance = "link"
	AssuranceChannel Assurance = "channel"
	AssuranceSession Assurance = "session"
	AssurancePasskey Assurance = "passkey"
)

// Assurances lists every assurance, from weakest to strongest.
var Assurances = []Assurance{AssuranceLink, AssuranceChannel, AssuranceSession, AssurancePasskey}

// AtLeast reports whether a is as strong as minimum, or stronger.
func (a Assurance) AtLeast(minimum Assurance) bool {
	return slices.Index(Assurances, a) >= slices.Index(Assurances, minimum)
}

// Caller is the party that makes a request, as access control identified it.
type Caller struct {
	WorkspaceID string
	// Kind is human for a person's token or session, agent for the token of an
	// agent or a worker, and system for the server itself.
	Kind ActorKind
	// TokenID is the token of the request. It is empty in single-user mode and
	// in a browser session.
	TokenID string
	// SessionID is the browser session of the request. It is empty if there is none.
	SessionID string
	// MemberID is the id of the person. It is empty for agents.
	MemberID string
	Name     string
	// Role is the person's role in every project that Projects does not name.
	Role     Role
	Projects map[string]Role
	Groups   []string
	Scopes   []Scope
	// TokenProjects are the projects that an agent's token names. If it names none, the agent sees every project.
	TokenProjects []string
	// Assurance is how strongly the person proved their identity.
	Assurance Assurance
	// MissingAdminAssurance is the assurance that the policy requires of admins, if this
	// person does not have it. Otherwise it is empty.
	MissingAdminAssurance Assurance
	// EndsAt is the end of the token or the session, unless it is revoked
	// sooner. It is zero if there is no end.
	EndsAt time.Time
	// WithoutSignIn reports whether the person answers over a channel or by a
	// link, without signing in. If the policy sets no assurance, the risk of
	// the question then decides which assurance the answer needs.
	WithoutSignIn bool
}

// IsEnded reports whether the token or the session has ended at the instant now.
func (c Caller) IsEnded(now time.Time) bool { return !c.EndsAt.IsZero() && !now.Before(c.EndsAt) }

// RoleIn returns the person's role in a project. An admin is an admin in every project.
func (c Caller) RoleIn(project string) Role { return roleIn(c.Role, c.Projects, project) }

func roleIn(role Role, projects map[string]Role, project string) Role {
	if own, ok := projects[project]; ok && role != RoleAdmin {
		return own
	}
	return role
}

// Actor returns the caller in the form that events store.
func (c Caller) Actor() Actor {
	id := c.TokenID
	if c.Kind == ActorHuman {
		id = c.MemberID
	}
	return Actor{Kind: c.Kind, ID: id, Name: c.Name}
}

// HasScope reports whether the caller may use the scope. Any scope includes read.
// For everybody but agents, admin includes all scopes. An agent never has
// answer or admin, whatever its token says.
func (c Caller) HasScope(scope Scope) bool {
	if c.Kind == ActorAgent && (scope == ScopeAnswer || scope == ScopeAdmin) {
		return false
	}
	if scope == ScopeRead {
		return len(c.Scopes) > 0
	}
	return slices.Contains(c.Scopes, scope) || c.Kind != ActorAgent && slices.Contains(c.Scopes, ScopeAdmin)
}
