package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// NewPull describes a pull request to open.
type NewPull struct {
	Title, Body string
	// Head is the branch with the changes, or owner:branch for a branch of a fork. Base is the branch that receives
	// them.
	Head, Base string
	Draft      bool
	// Key identifies the pull request, even if it was closed meanwhile.
	Key string
}

// OpenPull opens a pull request. If one exists for the same branches, it returns that one instead: an open one, or one
// that was opened under the same key.
func (c *Client) OpenPull(ctx context.Context, at Place, p NewPull) (pull *gh.PullRequest, created bool, err error) {
	if old, err := c.pull(ctx, at, p); err != nil || old != nil {
		return old, false, err
	}
	if err := c.checkHead(ctx, at, p.Head); err != nil {
		return nil, false, err
	}
	body := withKeyMark(p.Body, p.Key)
	pull, _, err = c.api.PullRequests.Create(ctx, at.Owner, at.Repo, &gh.NewPullRequest{
		Title: &p.Title, Head: &p.Head, Base: &p.Base, Body: &body, Draft: &p.Draft,
	})
	if err = apiFailure("open a pull request in "+at.Repository(), err); StatusOf(err) == http.StatusUnprocessableEntity {
		// Another client may have opened it meanwhile.
		if old, other := c.pull(ctx, at, p); other == nil && old != nil {
			return old, false, nil
		}
	}
	return pull, err == nil, err
}

// pull finds an existing pull request that can be used in place of a new one.
func (c *Client) pull(ctx context.Context, at Place, p NewPull) (*gh.PullRequest, error) {
	head := p.Head
	if !strings.Contains(head, ":") {
		head = at.Owner + ":" + head
	}
	list, _, err := c.api.PullRequests.List(ctx, at.Owner, at.Repo, &gh.PullRequestListOptions{
		State: "all", Head: head, Base: p.Base, ListOptions: gh.ListOptions{PerPage: 100},
	})
	if err != nil {
		return nil, apiFailure("look for pull requests in "+at.Repository(), err)
	}
	for _, one := range list {
		if one.GetState() == "open" || hasKey(one.GetBody(), p.Key) {
			return one, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// checkHead returns an error with a remedy if the branch is not at GitHub.
func (c *Client) checkHead(ctx context.Context, at Place, head string) error {
	if strings.Contains(head, ":") {
		return nil
	}
	sha, err := c.Branch(ctx, at, head)
	if err != nil || sha != "" {
		return err
	}
	return notice.Permanent(fermata.Errorf(fermata.CodeNotFound, "there is no branch %s in %s", head, at.Repository()).
		WithHint("let the step that changes the code push it (push: true), or name the branch as head"))
}

// PullHead returns the branch and the commit of a pull request.
func (c *Client) PullHead(ctx context.Context, at Place) (branch, commit string, err error) {
	p, _, err := c.api.PullRequests.Get(ctx, at.Owner, at.Repo, at.Number)
	return p.GetHead().GetRef(), p.GetHead().GetSHA(), apiFailure("read "+at.String(), err)
}

// NewReview describes a review of a pull request to submit.
type NewReview struct {
	// Event is APPROVE, REQUEST_CHANGES or COMMENT.
	Event string
	Body  string
	// Commit is the commit that was reviewed. The default is the last one of the pull request.
	Commit   string
	Comments []*gh.DraftReviewComment
	// Key identifies the review.
	Key string
}

// ReviewOnce submits a review. If the client's account has already submitted one under the same key, it returns that
// review instead.
func (c *Client) ReviewOnce(ctx context.Context, at Place, r NewReview) (review *Review, created bool, err error) {
	self, err := c.Self(ctx)
	if err != nil {
		return nil, false, err
	}
	old, err := c.Reviews(ctx, at)
	if err != nil {
		return nil, false, err
	}
	for i := range old {
		if old[i].User.ID == self.ID && hasKey(old[i].Body, r.Key) {
			return &old[i], false, nil
		}
	}
	sent := &gh.PullRequestReviewRequest{Body: new(withKeyMark(r.Body, r.Key)), Event: &r.Event, Comments: r.Comments}
	if r.Commit != "" {
		sent.CommitID = &r.Commit
	}
	review = &Review{}
	_, err = c.do(ctx, "review "+at.String(), http.MethodPost, fmt.Sprintf("repos/%s/pulls/%d/reviews", at.Repository(), at.Number), sent, review)
	return review, err == nil, err
}
