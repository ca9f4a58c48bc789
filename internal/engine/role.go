package engine

import (
	"cmp"

	"github.com/fermata-hq/fermata"
)

// mayWrite refuses a person who may only read in the project. Agents are
// bounded by the scopes of their tokens.
func mayWrite(c fermata.Caller, project string) error {
	project = cmp.Or(project, fermata.DefaultProject)
	if c.Kind != fermata.ActorHuman || c.RoleIn(project).AtLeast(fermata.RoleResponder) {
		return nil
	}
	return fermata.Errorf(fermata.CodeForbidden, "a %s may only read in the project %s", fermata.RoleViewer, project).
		WithHint("an admin can change that: fermata member set %s --project %s=responder", c.Name, project)
}
