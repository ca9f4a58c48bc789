package workflow

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// A process claims runs under one of these prefixes, followed by its own name. With the first prefix, other processes
// notice when this process ends (see [store.DB.IsPresent]). With the second they do not notice, and must wait until its
// leases end.
const (
	seenHolderPrefix   = "workflows-"
	unseenHolderPrefix = "unseen-workflows-"
)

// takeOverDelay is how long a process must be missing before others take over its runs. A process that lost its
// connection to the database reconnects within that time.
const takeOverDelay = 3 * time.Second

// holderName returns the name under which this process holds runs.
func (s *Service) holderName() string {
	if s.db.IsPresent() {
		return seenHolderPrefix + s.db.ProcessName()
	}
	return unseenHolderPrefix + s.db.ProcessName()
}

// awaitSeen waits until other processes see this one, for at most [takeOverDelay]. If this process claimed a run
// earlier and was then killed, the run would wait for the end of its lease.
func (s *Service) awaitSeen(ctx context.Context) {
	timer := time.NewTimer(takeOverDelay)
	defer timer.Stop()
	select {
	case <-s.db.PresenceSettled():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watchOthers ends the leases of processes that are gone, so that their runs continue at once.
func (s *Service) watchOthers(ctx context.Context) {
	timer := time.NewTimer(rescanInterval)
	defer timer.Stop()
	missingSince := map[string]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := rescanInterval
		if s.db.IsPresent() {
			if err := s.endLeasesOfGone(ctx, missingSince); err != nil && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "look for processes that are gone", "error", err)
				engine.Sleep(ctx, errorDelay)
			}
			wait = untilNextLook(missingSince)
		}
		timer.Reset(wait)
	}
}

// untilNextLook returns the time until the next check for missing processes. A missing process is checked again as soon
// as [takeOverDelay] has passed.
func untilNextLook(missingSince map[string]time.Time) time.Duration {
	wait := rescanInterval
	for _, since := range missingSince {
		wait = min(wait, takeOverDelay-time.Since(since))
	}
	return max(wait, time.Millisecond)
}

// endLeasesOfGone ends the leases of processes that have been missing for [takeOverDelay]. The map missingSince holds
// the time at which each missing process was first found missing.
func (s *Service) endLeasesOfGone(ctx context.Context, missingSince map[string]time.Time) error {
	holders, err := s.db.WorkersHoldingRuns(ctx, fermata.RunnerWorkflow)
	if err != nil {
		return err
	}
	var others []string
	for _, holder := range holders {
		if name, seen := strings.CutPrefix(holder, seenHolderPrefix); seen && name != s.db.ProcessName() {
			others = append(others, name)
		}
	}
	var gone []string
	if len(others) > 0 {
		if gone, err = s.db.GoneProcesses(ctx, others); err != nil {
			return err
		}
	}
	for name := range missingSince {
		if !slices.Contains(gone, name) {
			delete(missingSince, name)
		}
	}
	for _, name := range gone {
		since, known := missingSince[name]
		switch {
		case !known:
			missingSince[name] = time.Now()
		case time.Since(since) >= takeOverDelay:
			s.Log.WarnContext(ctx, "a server is gone; its runs go on here", "process", name)
			if err := s.db.EndLeasesOf(ctx, fermata.RunnerWorkflow, seenHolderPrefix+name); err != nil {
				return err
			}
			delete(missingSince, name)
		}
	}
	return nil
}
