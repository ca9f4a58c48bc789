package workflow

import "context"

// StartAllTriggered starts the runs that all events so far trigger.
var StartAllTriggered = func(ctx context.Context, s *Service, workspace string) error {
	return s.startAllTriggered(ctx, workspace)
}
