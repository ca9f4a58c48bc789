package delivery

import "context"

// LookForUnclaimed looks for tasks that no worker takes. The service does this once a minute.
func (s *Service) LookForUnclaimed(ctx context.Context, workspace string) error {
	return s.workspace(workspace).lookForUnclaimed(ctx)
}

// LookNow has every channel look for what is due. Without it a channel looks when the time that it read has passed.
func (s *Service) LookNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.of {
		w.wakeLanes()
	}
}
