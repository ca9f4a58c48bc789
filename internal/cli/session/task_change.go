package session

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
)

// TaskChange is a change of one task, which [Session.SendTaskChange] sends.
type TaskChange struct {
	Flags WriteFlags
	// ID may be the ending of an id. Verb is the last part of the address.
	ID, Verb string
	// Body is the body of the request, which a dry run prints. Send makes the call for the whole id.
	Body any
	Send func(ctx context.Context, id string) (*fermata.Task, error)
}

// SendTaskChange sends a change of a task and prints the new state.
func (s *Session) SendTaskChange(ctx context.Context, c TaskChange) error {
	if done, err := s.PrintDryRun(c.Flags, "POST", "/tasks/"+c.ID+"/"+c.Verb, c.Body); done {
		return err
	}
	id, err := s.ResolveTaskID(ctx, c.ID)
	if err != nil {
		return err
	}
	t, err := c.Send(ctx, id)
	if err != nil {
		return err
	}
	s.PrintDone(t.WorkspaceID, "%s is %s", t.ID, render.StateText(t))
	if s.JSON {
		return s.WriteJSON(t)
	}
	return nil
}
