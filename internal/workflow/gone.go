package workflow

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// A process holds runs under one of these prefixes, followed by its own name. Other processes notice when a seen
// process ends. For an unseen one they must wait until its leases end.
const (
	seenHolder   = "workflows-"
	unseenHolder = "unseen-workflows-"
)

// goneFor is how long a process must be out of sight before others take over its runs. A process that lost its
// connection to the database reconnects within that time.
const goneFor = 3 * time.Second

// holder returns the name under which this process holds runs.
func (s *Service) holder() string {
	if s.db.IsSeen() {
		return seenHolder + s.db.Self()
	}
	return unseenHolder + s.db.Self()
}

// awaitSeen waits until other processes see this one, for at most [goneFor]. If this process is killed, a run that it
// claimed before then waits for the end of its lease.
func (s *Service) awaitSeen(ctx context.Context) {
	timer := time.NewTimer(goneFor)
	defer timer.Stop()
	select {
	case <-s.db.CanBeSeen():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watchOthers ends the leases of processes that are gone, so that their runs continue at once.
func (s *Service) watchOthers(ctx context.Context) {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	missed := map[string]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if s.db.IsSeen() {
			if err := s.endLeasesOfGone(ctx, missed); err != nil && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "look for processes that are gone", "error", err)
				pause(ctx, afterError)
			}
		}
		timer.Reset(untilNextLook(missed))
	}
}

// untilNextLook returns the time until the next look at other processes. A process that is out of sight is looked at
// again as soon as [goneFor] has passed.
func untilNextLook(missed map[string]time.Time) time.Duration {
	wait := lookAgain
	for _, since := range missed {
		wait = min(wait, goneFor-time.Since(since))
	}
	return max(wait, time.Millisecond)
}

// endLeasesOfGone ends the leases of processes that have been out of sight for [goneFor]. The map missed holds the time
// since when each process has been out of sight.
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
		if gone, err = s.db.GoneProcesses(ctx, others); err != nil {
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
