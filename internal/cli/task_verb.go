package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// taskChange is a command that changes one task.
type taskChange struct {
	write write
	// id may be the ending of an id. verb is the last part of the address.
	id, verb string
	body     any
	send     func(ctx context.Context, id string) (*fermata.Task, error)
}

// sendTaskChange sends a change of a task and prints the new state.
func (s *session) sendTaskChange(ctx context.Context, c taskChange) error {
	if done, err := s.printDryRun(c.write, "POST", "/tasks/"+c.id+"/"+c.verb, c.body); done {
		return err
	}
	id, err := s.resolveTaskID(ctx, c.id)
	if err != nil {
		return err
	}
	t, err := c.send(ctx, id)
	if err != nil {
		return err
	}
	s.printDone(t.WorkspaceID, "%s is %s", t.ID, stateText(t))
	if s.JSON {
		return s.writeJSON(t)
	}
	return nil
}

// parseInstant reads a point in time: a duration from now, RFC 3339, or a date. For
// an empty text it returns nil.
func (s *session) parseInstant(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil means that no time was given
	}
	if d, err := fermata.Timeout(text).Duration(); err == nil {
		at := s.now().Add(d)
		return &at, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return &at, nil
		}
	}
	return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no point in time", text).
		WithHint("write 2h, 3d, 2027-01-31 or 2027-01-31T09:00:00Z")
}
