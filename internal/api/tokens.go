package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// project is a named group of tasks.
type project struct {
	Name string `json:"name"`
}

type tokenReply = reply[*fermata.Token]

func (s *Server) registerTokensAndProjects() {
	e := s.Engine
	addOperation(s, operation("GET /tokens", "list-tokens", "List tokens"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Token]], error) {
			return listOf(e.Tokens(ctx, c))
		})
	addOperation(s, withStatusCreated(operation("POST /tokens", "create-token", "Make a token; its secret is shown this once")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.NewToken]) (*tokenReply, error) {
			return replyOf(e.CreateToken(ctx, c, in.Body))
		})
	addOperation(s, operation("DELETE /tokens/{id}", "revoke-token", "Revoke a token"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*tokenReply, error) {
			return replyOf(e.RevokeToken(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /projects", "list-projects", "List projects"), s.projects)
}

func (s *Server) projects(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[project]], error) {
	names, err := s.Engine.Projects(ctx, c)
	projects := make([]project, 0, len(names))
	for _, name := range names {
		projects = append(projects, project{name})
	}
	return listOf(projects, err)
}
