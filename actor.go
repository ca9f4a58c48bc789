package fermata

import (
	"slices"
	"time"
)

// ActorKind says what kind of party did something.
type ActorKind string

// Kinds of actors.
const (
	ActorHuman   ActorKind = "human"
	ActorAgent   ActorKind = "agent"
	ActorSystem  ActorKind = "system"
	ActorPolicy  ActorKind = "policy"
	ActorTimeout ActorKind = "timeout"
)

// ActorKinds lists every kind.
var ActorKinds = []ActorKind{ActorHuman, ActorAgent, ActorSystem, ActorPolicy, ActorTimeout}

// Actor is who did something. Time and rules are actors of their own kind, so
// that what they decide never looks like a person's decision.
type Actor struct {
	Kind ActorKind `json:"kind" enum:"human,agent,system,policy,timeout"`
	// ID is a member's or a token's id; empty for system, policy and timeout.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Is reports whether both are the same person, agent or other actor. Names do not count, since people change them.
func (a Actor) Is(other Actor) bool { return a.Kind == other.Kind && a.ID == other.ID }

// DisplayName is the actor's name on one line, or what kind of party it is.
func (a Actor) DisplayName() string {
	if name := oneLine(a.Name); name != "" {
		return name
	}
	return string(a.Kind)
}

// Actors without an identity.
var (
	System    = Actor{Kind: ActorSystem}
	ByPolicy  = Actor{Kind: ActorPolicy}
	ByTimeout = Actor{Kind: ActorTimeout}
)

// Role is what a member may do in a workspace.
type Role string

// Roles, from least to most.
const (
	// RoleNone lets a person see nothing. As the role in a project it hides that project. As the role in the workspace it
	// hides every project in which the person has no other role.
	RoleNone      Role = "none"
	RoleViewer    Role = "viewer"
	RoleResponder Role = "responder"
	RoleOperator  Role = "operator"
	RoleAdmin     Role = "admin"
)

// Roles lists every role with which somebody sees a project, from least to most.
var Roles = []Role{RoleViewer, RoleResponder, RoleOperator, RoleAdmin}

// AtLeast reports whether r includes what least may do.
func (r Role) AtLeast(least Role) bool {
	return slices.Index(Roles, r) >= slices.Index(Roles, least)
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

// Assurance says how strongly a person is known who answers (spec §8).
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

// AtLeast reports whether a person is known as strongly as least asks for.
func (a Assurance) AtLeast(least Assurance) bool {
	return slices.Index(Assurances, a) >= slices.Index(Assurances, least)
}

// Caller is who makes a request, as access control found it out.
type Caller struct {
	WorkspaceID string
	// Kind is human for a person's token or session, agent for an agent's or a
	// worker's token, system for the server itself.
	Kind ActorKind
	// TokenID is the token that was shown; empty in single-user mode and in a
	// session.
	TokenID string
	// SessionID is the browser session that was shown; empty without one.
	SessionID string
	// MemberID is the person; empty for agents.
	MemberID string
	Name     string
	// Role is what the person may do where Projects says nothing else.
	Role     Role
	Projects map[string]Role
	Groups   []string
	Scopes   []Scope
	// TokenProjects are the projects that an agent's token names. If it names none, the agent sees every project.
	TokenProjects []string
	// Assurance is how strongly the person is known.
	Assurance Assurance
	// AdminNeeds is the assurance that the policy asks of admins, if the person does not have it; else it is empty.
	AdminNeeds Assurance
	// EndsAt is when the token or the session ends, if nobody ends it before;
	// zero where it does not.
	EndsAt time.Time
	// Outside says that the person answers over a channel or by a link, where
	// nobody signs in: what the policy leaves open is closed there by risk.
	Outside bool
}

// IsEnded reports whether the token or the session is over.
func (c Caller) IsEnded(now time.Time) bool { return !c.EndsAt.IsZero() && !now.Before(c.EndsAt) }

// RoleIn returns what the person may do in a project. An admin is one
// everywhere.
func (c Caller) RoleIn(project string) Role { return roleIn(c.Role, c.Projects, project) }

func roleIn(role Role, projects map[string]Role, project string) Role {
	if own, ok := projects[project]; ok && role != RoleAdmin {
		return own
	}
	return role
}

// Actor returns the caller as it is written into events.
func (c Caller) Actor() Actor {
	id := c.TokenID
	if c.Kind == ActorHuman {
		id = c.MemberID
	}
	return Actor{Kind: c.Kind, ID: id, Name: c.Name}
}

// Has reports whether the caller's token carries the scope. Every scope lets
// its holder read; admin includes all of a person's scopes. An agent never
// has answer or admin, whatever its token says.
func (c Caller) Has(scope Scope) bool {
	if c.Kind == ActorAgent && (scope == ScopeAnswer || scope == ScopeAdmin) {
		return false
	}
	if scope == ScopeRead {
		return len(c.Scopes) > 0
	}
	return slices.Contains(c.Scopes, scope) || c.Kind != ActorAgent && slices.Contains(c.Scopes, ScopeAdmin)
}
