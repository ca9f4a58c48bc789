package workflow

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// Under these names, with that of the process behind them, processes hold runs. Of a process that others do not see, nobody can
// say that it is gone: its leases are waited for.
const (
	seenHolder   = "workflows-"
	unseenHolder = "unseen-workflows-"
)

// goneFor is for how long a process must not be seen before its runs are taken over. One that lost its connection to the
// database connects again within that time.
const goneFor = 3 * time.Second

// holder is the name under which this process holds runs.
func (s *Service) holder() string {
	if s.db.IsSeen() {
		return seenHolder + s.db.Self()
	}
	return unseenHolder + s.db.Self()
}

// awaitSeen waits until other processes see this one, so that they notice when it ends. It does not wait for long: without that
// they wait for the ends of leases.
func (s *Service) awaitSeen(ctx context.Context) {
	timer := time.NewTimer(goneFor)
	defer timer.Stop()
	select {
	case <-s.db.CanBeSeen():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watchOthers lets the runs go on that processes held which are gone, and does not wait for the end of their leases.
func (s *Service) watchOthers(ctx context.Context) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	missed := map[string]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.db.IsSeen() {
			continue
		}
		if err := s.endLeasesOfGone(ctx, missed); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "look for processes that are gone", "error", err)
			pause(ctx, afterError)
		}
	}
}

// endLeasesOfGone ends the leases of the processes that were not seen for a while. Missed is since when each was not.
func (s *Service) endLeasesOfGone(ctx context.Context, missed map[string]time.Time) error {
	holders, err := s.db.Holders(ctx, fermata.RunnerWorkflow)
	if err != nil {
		return err
	}
	var others []string
	for _, holder := range holders {
		if name, seen := strings.CutPrefix(holder, seenHolder); seen && name != s.db.Self() {
			others = append(others, name)
		}
	}
	var gone []string
	if len(others) > 0 {
		if gone, err = s.db.Gone(ctx, others); err != nil {
			return err
		}
	}
	for name := range missed {
		if !slices.Contains(gone, name) {
			delete(missed, name)
		}
	}
	for _, name := range gone {
		since, known := missed[name]
		switch {
		case !known:
			missed[name] = time.Now()
		case time.Since(since) >= goneFor:
			s.Log.WarnContext(ctx, "a server is gone; its runs go on here", "process", name)
			if err := s.db.EndLeasesOf(ctx, fermata.RunnerWorkflow, seenHolder+name); err != nil {
				return err
			}
			delete(missed, name)
		}
	}
	return nil
}
