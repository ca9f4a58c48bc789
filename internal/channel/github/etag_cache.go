package github

import (
	"context"
	"net/http"

	gh "github.com/google/go-github/v89/github"
)

// etagCache stores the ETag of the last response from a path. A request for
// unchanged data does not count against the hourly limit.
type etagCache struct{ path, etag string }

// get reads the data at the path. changed is false if the data has not changed
// since the last request.
func (g *etagCache) get(ctx context.Context, c *Client, path string, into any) (resp *gh.Response, changed bool, err error) {
	req, err := c.api.NewRequest(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, false, err
	}
	if path == g.path && g.etag != "" {
		req.Header.Set("If-None-Match", g.etag)
	}
	resp, err = c.api.Do(req, into)
	if resp != nil && resp.Response != nil && resp.StatusCode == http.StatusNotModified {
		return resp, false, nil
	}
	if err == nil {
		g.path, g.etag = path, resp.Header.Get("ETag")
	}
	return resp, err == nil, err
}
