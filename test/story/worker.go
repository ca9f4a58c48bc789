package story

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Leases of the load's workers, in seconds. A worker that holds a task to its end has a long one, so that a lease is
// lost only if a worker leaves.
const (
	longLease  = 300
	shortLease = 1
)

// work claims tasks and plays their agents until the story ends.
func (s *Story) work(c *client.Client, name string) {
	for s.ctx.Err() == nil {
		lease, leaves := longLease, s.random.Chance(4)
		if leaves {
			lease = shortLease
		}
		claim, err := c.Claim(s.ctx, fermata.ClaimRequest{Worker: name, LeaseSeconds: lease, WaitSeconds: 1})
		switch {
		case errors.Is(err, client.ErrNoTask):
		case err != nil:
			s.failTest("claim: %v", err)
		default:
			s.recordClaim(claim)
			if !leaves {
				s.run(c, claim)
			}
		}
	}
}

// recordClaim records the run that a worker was given. No other worker may have been given the same run.
func (s *Story) recordClaim(claim *fermata.Claim) {
	s.record(func(l *log) {
		if _, twice := l.claims[claim.Run.ID]; twice {
			s.failTest("run %s was given to two workers", claim.Run.ID)
		}
		l.claims[claim.Run.ID] = claim.Task.ID
		for _, q := range claim.Context.Questions {
			got := endOf(q.Resolution)
			l.handed[q.QuestionID] = append(l.handed[q.QuestionID], handover{claim.Run.ID, got})
		}
	})
}

// step is the checkpoint of a task: how often it has asked.
type step struct {
	Asked int `json:"asked"`
}

// run plays an agent: it asks up to twice, in a run each, and completes.
func (s *Story) run(c *client.Client, claim *fermata.Claim) {
	var at step
	if len(claim.Context.Checkpoint) > 0 {
		if err := json.Unmarshal(claim.Context.Checkpoint, &at); err != nil {
			s.failTest("the checkpoint of %s: %v", claim.Task.ID, err)
			return
		}
	}
	if at.Asked > 0 && len(claim.Context.Questions) != 1 {
		s.failTest("run %s resumes task %s after question %d with %d ends, not with one",
			claim.Run.ID, claim.Task.ID, at.Asked, len(claim.Context.Questions))
	}
	f := fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultCompleted}
	if at.Asked == 0 || at.Asked == 1 && s.random.Chance(50) {
		at.Asked++
		f.Result = fermata.ResultNeedsInput
		f.Question = &fermata.Ask{Question: fmt.Sprintf("What about %d?", at.Asked)}
		f.Checkpoint, _ = json.Marshal(at)
	}
	t, err := c.Finish(s.ctx, claim.Run.ID, f)
	if err != nil {
		s.failTest("finish run %s of task %s: %v", claim.Run.ID, claim.Task.ID, err)
		return
	}
	s.record(func(l *log) {
		l.finished[claim.Run.ID] = true
		if f.Question == nil {
			l.done[t.ID] = true
			return
		}
		l.asked[t.PendingQuestionID] = true
	})
	if f.Question == nil {
		<-s.slots
		return
	}
	// Some questions reach two people at the same time.
	s.questions <- t.PendingQuestionID
	if s.random.Chance(25) {
		s.questions <- t.PendingQuestionID
	}
}
