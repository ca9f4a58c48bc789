package api

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// newMember adds a person.
type newMember struct {
	Handle string       `json:"handle" minLength:"1" maxLength:"64" doc:"unique in the workspace; what assignees name"`
	Role   fermata.Role `json:"role,omitempty" doc:"viewer, responder (default), operator or admin"`
	Groups []string     `json:"groups,omitempty" maxItems:"50"`
}

// project is a named group of tasks.
type project struct {
	Name string `json:"name"`
}

// whoami tells a caller who it is.
type whoami struct {
	Workspace  string            `json:"workspace"`
	Kind       fermata.ActorKind `json:"kind"`
	Name       string            `json:"name"`
	Role       fermata.Role      `json:"role,omitempty"`
	Scopes     []fermata.Scope   `json:"scopes"`
	ServerTime time.Time         `json:"server_time"`
	Version    string            `json:"version"`
}

type tokenReply = reply[*fermata.Token]

func (s *Server) peopleRoutes() {
	e := s.Engine
	add(s, operation("GET /whoami", "whoami", "Read who the token stands for"), s.whoami)
	add(s, operation("GET /tokens", "list-tokens", "List tokens"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Token]], error) {
			return listOf(e.Tokens(ctx, c))
		})
	add(s, created(operation("POST /tokens", "create-token", "Make a token; its secret is shown this once")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.NewToken]) (*tokenReply, error) {
			return replyOf(e.CreateToken(ctx, c, in.Body))
		})
	add(s, operation("DELETE /tokens/{id}", "revoke-token", "Revoke a token"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*tokenReply, error) {
			return replyOf(e.RevokeToken(ctx, c, in.ID))
		})
	add(s, operation("GET /members", "list-members", "List people"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Member]], error) {
			return listOf(e.Members(ctx, c))
		})
	add(s, created(operation("POST /members", "add-member", "Add a person")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[newMember]) (*reply[*fermata.Member], error) {
			n := in.Body
			return replyOf(e.AddMember(ctx, c, engine.NewMember{Handle: n.Handle, Role: n.Role, Groups: n.Groups}))
		})
	add(s, operation("GET /projects", "list-projects", "List projects"), s.projects)
}

func (s *Server) projects(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[project]], error) {
	names, err := s.Engine.Projects(ctx, c)
	projects := make([]project, 0, len(names))
	for _, name := range names {
		projects = append(projects, project{name})
	}
	return listOf(projects, err)
}

func (s *Server) whoami(_ context.Context, c fermata.Caller, _ *struct{}) (*reply[whoami], error) {
	return replyOf(whoami{
		Workspace: c.WorkspaceID, Kind: c.Kind, Name: c.Name, Role: c.Role, Scopes: c.Scopes,
		ServerTime: fermata.Cut(time.Now()), Version: s.Version,
	}, nil)
}
