package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// GroupInput names a group in the path. It is exported because huma ignores
// embedded structs that are not.
type GroupInput struct {
	Name string `path:"name" maxLength:"200"`
}

type groupChangeInput struct {
	GroupInput
	Body fermata.GroupChange
}

type groupReply = reply[*fermata.Group]

func (s *Server) registerGroups() {
	e := s.Engine
	addOperation(s, operation("GET /groups", "list-groups", "List the groups and who is in them"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Group]], error) {
			return listOf(e.Groups(ctx, c))
		})
	addOperation(s, withStatusCreated(operation("POST /groups", "add-group", "Make a group")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.NewGroup]) (*groupReply, error) {
			return replyOf(e.AddGroup(ctx, c, in.Body))
		})
	addOperation(s, operation("PATCH /groups/{name}", "change-group", "Change a group: its name, description, people"),
		func(ctx context.Context, c fermata.Caller, in *groupChangeInput) (*groupReply, error) {
			return replyOf(e.ChangeGroup(ctx, c, in.Name, in.Body))
		})
	addOperation(s, operation("DELETE /groups/{name}", "delete-group", "Dissolve a group"),
		func(ctx context.Context, c fermata.Caller, in *GroupInput) (*empty, error) {
			return emptyOf(e.DeleteGroup(ctx, c, in.Name))
		})
}
