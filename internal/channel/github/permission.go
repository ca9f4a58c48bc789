package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// cachedPermission is a cached permission of an account in a repository.
type cachedPermission struct {
	denialReason string
	expires      time.Time
}

const (
	// permissionCacheTime is how long a permission is cached.
	permissionCacheTime = 30 * time.Second
	// maxCachedPermissions is how many permissions are cached.
	maxCachedPermissions = 10_000
)

// DenialReason says why GitHub does not let the person decide in the repository. It is empty if GitHub does: a person
// with write access may decide. It asks GitHub, because the author_association beside a comment is not a permission.
func (c *Client) DenialReason(ctx context.Context, at Place, who Account) (string, error) {
	key := strings.ToLower(at.Repository()) + " " + who.Login
	c.mu.Lock()
	known, ok := c.permissions[key]
	c.mu.Unlock()
	if ok && time.Now().Before(known.expires) {
		return known.denialReason, nil
	}
	denied, err := c.lookUpPermission(ctx, at, who)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.permissions) >= maxCachedPermissions {
		clear(c.permissions)
	}
	c.permissions[key] = cachedPermission{denied, time.Now().Add(permissionCacheTime)}
	return denied, nil
}

func (c *Client) lookUpPermission(ctx context.Context, at Place, who Account) (string, error) {
	var level struct {
		Permission string  `json:"permission"`
		User       Account `json:"user"`
	}
	_, err := c.do(ctx, "look up a permission in "+at.Repository(), http.MethodGet,
		"repos/"+at.Repository()+"/collaborators/"+url.PathEscape(who.Login)+"/permission", nil, &level)
	switch {
	case StatusOf(err) == http.StatusForbidden:
		return "the account that Fermata uses here may not look up who has write access; an administrator of the repository must allow it", nil
	case StatusOf(err) == http.StatusNotFound:
		return "only people with write access to the repository may answer here", nil
	case err != nil:
		return "", err
	case level.User.ID != who.ID:
		return "the account was renamed meanwhile; please write it again", nil
	// GitHub reports maintain as write, and triage as read.
	case level.Permission == "admin", level.Permission == "write":
		return "", nil
	default:
		return "only people with write access to the repository may answer here", nil
	}
}
