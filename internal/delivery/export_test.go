package delivery

import (
	"context"

	"github.com/fermata-hq/fermata/internal/store"
)

// CheckUnclaimed checks for tasks that no worker takes. The service does this once a minute.
func (s *Service) CheckUnclaimed(ctx context.Context, workspace string) error {
	return s.workspace(workspace).checkUnclaimed(ctx)
}

// WakeSenders makes every channel check for due deliveries. Without it, a channel checks at the time that it calculated
// before.
func (s *Service) WakeSenders() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workspaces {
		w.wakeSenders()
	}
}

// NoteOpenChannels notes which channels are open now. The result reports whether these differ from the stored ones.
func (s *Service) NoteOpenChannels(workspace string) (areStaleNow func(store.Reader) (bool, error)) {
	channels := s.workspace(workspace).sortedChannels()
	return func(r store.Reader) (bool, error) { return areStale(r, channels) }
}
