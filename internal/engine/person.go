package engine

import "github.com/fermata-hq/fermata"

// person refuses a caller who is none, and so has nothing of their own in the
// workspace.
func person(c fermata.Caller) error {
	if c.Kind != fermata.ActorHuman || c.MemberID == "" {
		return fermata.Errorf(fermata.CodeForbidden, "only people have this; the token is an agent's")
	}
	return nil
}
