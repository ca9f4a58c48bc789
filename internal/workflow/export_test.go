package workflow

import "context"

// SettleTriggers starts the runs that all events so far trigger.
var SettleTriggers = func(ctx context.Context, s *Service, workspace string) error {
	return s.startAllTriggered(ctx, workspace)
}
