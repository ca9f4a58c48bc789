package workflow

import "context"

// SettleTriggers looks for triggers among all events until now.
var SettleTriggers = func(ctx context.Context, s *Service, workspace string) error {
	return s.startAllTriggered(ctx, workspace)
}
