package github

import (
	"context"
	"strings"

	gh "github.com/google/go-github/v89/github"
)

// AddLabels adds labels to an issue, and returns all the labels that it has
// then.
func (c *Client) AddLabels(ctx context.Context, at Place, labels []string) ([]string, error) {
	if len(labels) == 0 {
		return c.RemoveLabels(ctx, at, nil)
	}
	all, _, err := c.api.Issues.AddLabelsToIssue(ctx, at.Owner, at.Repo, at.Number, labels)
	return labelNames(all), apiFailure("label "+at.String(), err)
}

// RemoveLabels removes those labels that an issue has, and returns the
// remaining ones.
func (c *Client) RemoveLabels(ctx context.Context, at Place, labels []string) ([]string, error) {
	issue, err := c.Issue(ctx, at)
	if err != nil {
		return nil, err
	}
	rest := []string{}
	for _, have := range labelNames(issue.Labels) {
		if !hasFold(labels, have) {
			rest = append(rest, have)
		} else if err := c.Unlabel(ctx, at, have); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// labelNames lists labels by name.
func labelNames(labels []*gh.Label) []string {
	list := []string{}
	for _, l := range labels {
		list = append(list, l.GetName())
	}
	return list
}

// hasFold reports whether a list has a name. GitHub does not distinguish upper
// and lower case.
func hasFold(list []string, name string) bool {
	for _, one := range list {
		if strings.EqualFold(one, name) {
			return true
		}
	}
	return false
}

// AddAssignees assigns people to an issue. It returns all assignees, and the
// people that GitHub silently left out.
func (c *Client) AddAssignees(ctx context.Context, at Place, logins []string) (all, leftOut []string, err error) {
	issue, _, err := c.api.Issues.AddAssignees(ctx, at.Owner, at.Repo, at.Number, logins)
	if err != nil {
		return nil, nil, apiFailure("assign "+at.String(), err)
	}
	all, leftOut = []string{}, []string{}
	for _, u := range issue.Assignees {
		all = append(all, u.GetLogin())
	}
	for _, login := range logins {
		if !hasFold(all, login) {
			leftOut = append(leftOut, login)
		}
	}
	return all, leftOut, nil
}

// SetState opens or closes an issue. reason may be empty.
func (c *Client) SetState(ctx context.Context, at Place, state, reason string) error {
	change := &gh.IssueRequest{State: &state}
	if reason != "" {
		change.StateReason = &reason
	}
	_, _, err := c.api.Issues.Edit(ctx, at.Owner, at.Repo, at.Number, change)
	return apiFailure("change the state of "+at.String(), err)
}
