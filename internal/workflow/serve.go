package workflow

import (
	"context"
	"errors"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// Run runs workflows until ctx ends: it moves runs forward, follows triggers
// and starts schedules. At the end it releases the runs that are under way, so
// that another process continues them.
func (s *Service) Run(ctx context.Context) {
	workspaces, err := s.db.Reader(ctx, "").Workspaces()
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "look for workspaces", "error", err)
		workspaces = []string{store.DefaultWorkspace}
	}
	var parts sync.WaitGroup
	for _, id := range workspaces {
		parts.Go(func() { s.runExecutors(ctx, id) })
		parts.Go(func() { s.watch(ctx, id) })
	}
	parts.Go(func() { s.runSchedules(ctx) })
	parts.Go(func() { s.watchOthers(ctx) })
	parts.Wait()
}

// TakeOver makes the runs of another process continue at once, not when their
// leases end. Call it only if no other process uses the database, and before
// [Service.Run].
func (s *Service) TakeOver(ctx context.Context) error {
	return s.db.EndLeases(ctx, fermata.RunnerWorkflow)
}

// runExecutors claims runs of a workspace and moves them forward in parallel.
func (s *Service) runExecutors(ctx context.Context, workspace string) {
	var executions sync.WaitGroup
	defer executions.Wait()
	slots := make(chan struct{}, s.Executors)
	s.awaitSeen(ctx)
	for ctx.Err() == nil {
		slots <- struct{}{}
		claim, err := s.e.ClaimWorkflow(ctx, workspace, s.holderName(), s.Lease, claimWait)
		if err != nil {
			<-slots
			if !errors.Is(err, engine.ErrNoTask) && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "claim a run", "error", err)
				engine.Sleep(ctx, errorDelay)
			}
			continue
		}
		executions.Go(func() {
			defer func() { <-slots }()
			s.executeClaim(ctx, claim)
		})
	}
}

// executeClaim moves a run forward. If that fails, it releases the run after a pause, so that it can be claimed again
// before its lease ends.
func (s *Service) executeClaim(ctx context.Context, claim *fermata.Claim) {
	err := s.execute(ctx, claim)
	if err == nil || fermata.CodeOf(err) == fermata.CodeStaleRun {
		return
	}
	if ctx.Err() == nil {
		s.Log.ErrorContext(ctx, "move a run on", "run", claim.Task.ID, "error", err)
		engine.Sleep(ctx, errorDelay)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), errorDelay)
	defer cancel()
	if err := s.e.ReleaseWorkflow(ctx, claim); err != nil && fermata.CodeOf(err) != fermata.CodeStaleRun {
		s.Log.WarnContext(ctx, "hand a run back", "run", claim.Task.ID, "error", err)
	}
}
