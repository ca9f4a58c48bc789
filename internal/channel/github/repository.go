package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata"
)

// ReadSettings reads the settings of a channel, and says everything that is
// wrong with them.
func ReadSettings(raw json.RawMessage) (Settings, error) { return readSettings(raw) }

// Allows reports whether something may be written to the repository.
func (s *Settings) Allows(p Place) bool { return s.allows(p) }

// ParseRepository reads owner/repo as a place without an issue.
func ParseRepository(name string) (Place, error) {
	ownerName, repoName, ok := cutRepository(strings.TrimSpace(name))
	if !ok {
		return Place{}, fermata.Errorf(fermata.CodeInvalidRequest, "%q names no repository", name).WithHint("write owner/repo")
	}
	return Place{Owner: ownerName, Repo: repoName}, nil
}

// Repository returns owner/repo.
func (p Place) Repository() string { return p.repository() }

// StatusOf returns the status that GitHub answered with, 0 for another error.
func StatusOf(err error) int { return statusOf(err) }

// DefaultBranch returns the name of the branch from which others begin.
func (c *Client) DefaultBranch(ctx context.Context, at Place) (string, error) {
	r, _, err := c.api.Repositories.Get(ctx, at.Owner, at.Repo)
	return r.GetDefaultBranch(), apiFailure("read "+at.repository(), err)
}

// Commit returns the commit at which a branch, a tag or a commit stands; empty
// where there is none.
func (c *Client) Commit(ctx context.Context, at Place, ref string) (string, error) {
	sha, _, err := c.api.Repositories.GetCommitSHA1(ctx, at.Owner, at.Repo, ref, "")
	return sha, ignoreNotFound(apiFailure("look for "+ref+" in "+at.repository(), err))
}

// Branch returns the commit at which a branch stands; empty where there is none.
func (c *Client) Branch(ctx context.Context, at Place, name string) (string, error) {
	ref, _, err := c.api.Git.GetRef(ctx, at.Owner, at.Repo, "heads/"+name)
	if err = apiFailure("look for the branch "+name+" of "+at.repository(), err); err != nil {
		return "", ignoreNotFound(err)
	}
	return ref.GetObject().GetSHA(), nil
}

// ignoreNotFound takes "there is none" for an answer.
func ignoreNotFound(err error) error {
	if s := statusOf(err); s == http.StatusNotFound || s == http.StatusUnprocessableEntity {
		return nil
	}
	return err
}

// CreateBranch makes a branch that stands at a commit. One that is there
// already is returned as it is.
func (c *Client) CreateBranch(ctx context.Context, at Place, name, commit string) (sha string, created bool, err error) {
	if sha, err := c.Branch(ctx, at, name); err != nil || sha != "" {
		return sha, false, err
	}
	_, _, err = c.api.Git.CreateRef(ctx, at.Owner, at.Repo, gh.CreateRef{Ref: "refs/heads/" + name, SHA: commit})
	if err = apiFailure("make the branch "+name+" of "+at.repository(), err); statusOf(err) == http.StatusUnprocessableEntity {
		// Somebody else may have made it meanwhile.
		if sha, other := c.Branch(ctx, at, name); other == nil && sha != "" {
			return sha, false, nil
		}
	}
	return commit, err == nil, err
}
