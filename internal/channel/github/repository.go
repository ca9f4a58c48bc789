package github

import (
	"context"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata"
)

// ParseRepository reads owner/repo as a place without an issue.
func ParseRepository(name string) (Place, error) {
	ownerName, repoName, ok := cutRepository(strings.TrimSpace(name))
	if !ok {
		return Place{}, fermata.Errorf(fermata.CodeInvalidRequest, "%q names no repository", name).WithHint("write owner/repo")
	}
	return Place{Owner: ownerName, Repo: repoName}, nil
}

// DefaultBranch returns the name of the default branch of the repository.
func (c *Client) DefaultBranch(ctx context.Context, at Place) (string, error) {
	r, _, err := c.api.Repositories.Get(ctx, at.Owner, at.Repo)
	return r.GetDefaultBranch(), apiFailure("read "+at.Repository(), err)
}

// Commit returns the commit that a branch, a tag or a commit id names. It is
// empty if there is none.
func (c *Client) Commit(ctx context.Context, at Place, ref string) (string, error) {
	sha, _, err := c.api.Repositories.GetCommitSHA1(ctx, at.Owner, at.Repo, ref, "")
	return sha, ignoreNotFound(apiFailure("look for "+ref+" in "+at.Repository(), err))
}

// Branch returns the commit of a branch. It is empty if there is no such
// branch.
func (c *Client) Branch(ctx context.Context, at Place, name string) (string, error) {
	ref, _, err := c.api.Git.GetRef(ctx, at.Owner, at.Repo, "heads/"+name)
	if err = apiFailure("look for the branch "+name+" of "+at.Repository(), err); err != nil {
		return "", ignoreNotFound(err)
	}
	return ref.GetObject().GetSHA(), nil
}

// ignoreNotFound returns nil if the object does not exist.
func ignoreNotFound(err error) error {
	if s := StatusOf(err); s == http.StatusNotFound || s == http.StatusUnprocessableEntity {
		return nil
	}
	return err
}

// CreateBranch creates a branch at a commit. An existing branch is returned
// unchanged.
func (c *Client) CreateBranch(ctx context.Context, at Place, name, commit string) (sha string, created bool, err error) {
	if sha, err := c.Branch(ctx, at, name); err != nil || sha != "" {
		return sha, false, err
	}
	_, _, err = c.api.Git.CreateRef(ctx, at.Owner, at.Repo, gh.CreateRef{Ref: "refs/heads/" + name, SHA: commit})
	if err = apiFailure("make the branch "+name+" of "+at.Repository(), err); StatusOf(err) == http.StatusUnprocessableEntity {
		// Another client may have created it meanwhile.
		if sha, other := c.Branch(ctx, at, name); other == nil && sha != "" {
			return sha, false, nil
		}
	}
	return commit, err == nil, err
}
