package delivery

import "context"

// LookForUnclaimed checks for tasks that no worker takes. The service does this once a minute.
func (s *Service) LookForUnclaimed(ctx context.Context, workspace string) error {
	return s.workspace(workspace).lookForUnclaimed(ctx)
}

// LookNow makes every channel check for due deliveries. Without it, a channel checks at the time that it calculated
// before.
func (s *Service) LookNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.of {
		w.wakeLanes()
	}
}
