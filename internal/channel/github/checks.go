package github

import (
	"context"
	"slices"

	gh "github.com/google/go-github/v89/github"
)

// CheckState is the state of a check.
type CheckState string

// These are the states of checks.
const (
	CheckSuccess CheckState = "success"
	CheckFailure CheckState = "failure"
	CheckPending CheckState = "pending"
	// CheckNone is the state of a commit without checks.
	CheckNone CheckState = "none"
)

// Check is a check of a commit: a check run of an App, or a status that a
// program set.
type Check struct {
	Name  string
	State CheckState
	URL   string
}

// maxCheckPages is how many pages of checks are read for one commit.
const maxCheckPages = 10

// Checks returns the checks of a commit and their common state: failure if one
// check failed, else pending if one is not done.
func (c *Client) Checks(ctx context.Context, at Place, commit string) ([]Check, CheckState, error) {
	all, err := c.checkRuns(ctx, at, commit)
	if err != nil {
		return nil, "", err
	}
	statuses, err := c.statuses(ctx, at, commit)
	if err != nil {
		return nil, "", err
	}
	all = append(all, statuses...)
	return all, combineChecks(all), nil
}

// combineChecks returns the state of all checks together.
func combineChecks(all []Check) CheckState {
	is := func(state CheckState) bool {
		return slices.ContainsFunc(all, func(c Check) bool { return c.State == state })
	}
	switch {
	case len(all) == 0:
		return CheckNone
	case is(CheckFailure):
		return CheckFailure
	case is(CheckPending):
		return CheckPending
	default:
		return CheckSuccess
	}
}

func (c *Client) checkRuns(ctx context.Context, at Place, commit string) ([]Check, error) {
	all := []Check{}
	options := &gh.ListCheckRunsOptions{ListOptions: gh.ListOptions{PerPage: 100}}
	for range maxCheckPages {
		some, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, at.Owner, at.Repo, commit, options)
		if err != nil {
			return nil, apiFailure("read the checks of "+commit+" in "+at.Repository(), err)
		}
		for _, r := range some.CheckRuns {
			all = append(all, Check{Name: r.GetName(), State: stateOfRun(r), URL: r.GetHTMLURL()})
		}
		if options.Page = resp.NextPage; options.Page == 0 {
			break
		}
	}
	return all, nil
}

// stateOfRun returns the state of a check run. A skipped or neutral run counts
// as a success, as at GitHub.
func stateOfRun(r *gh.CheckRun) CheckState {
	if r.GetStatus() != "completed" {
		return CheckPending
	}
	switch r.GetConclusion() {
	case "success", "neutral", "skipped":
		return CheckSuccess
	default:
		return CheckFailure
	}
}

func (c *Client) statuses(ctx context.Context, at Place, commit string) ([]Check, error) {
	all := []Check{}
	options := &gh.ListOptions{PerPage: 100}
	for range maxCheckPages {
		some, resp, err := c.api.Repositories.GetCombinedStatus(ctx, at.Owner, at.Repo, commit, options)
		if err != nil {
			return nil, apiFailure("read the statuses of "+commit+" in "+at.Repository(), err)
		}
		for _, s := range some.Statuses {
			all = append(all, Check{Name: s.GetContext(), State: stateOfStatus(s.GetState()), URL: s.GetTargetURL()})
		}
		if options.Page = resp.NextPage; options.Page == 0 {
			break
		}
	}
	return all, nil
}

func stateOfStatus(state string) CheckState {
	switch state {
	case "success":
		return CheckSuccess
	case "pending":
		return CheckPending
	default:
		return CheckFailure
	}
}
