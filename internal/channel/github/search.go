package github

import (
	"context"
	"strings"
	"time"

	gh "github.com/google/go-github/v89/github"
)

// IssueFilter says which issues to list, and in which order. Empty fields have GitHub's defaults: open issues, the
// newest first.
type IssueFilter struct {
	State, Assignee, Author string
	// Labels must all be on the issue.
	Labels []string
	// Since leaves out issues that have not changed since this time.
	Since time.Time
	// Sort is created, updated or comments. Order is asc or desc.
	Sort, Order string
}

// Issues lists at most limit issues of a repository, and reports whether there are more. It leaves pull requests out.
func (c *Client) Issues(ctx context.Context, at Place, f IssueFilter, limit int) (found []*gh.Issue, more bool, err error) {
	options := &gh.IssueListByRepoOptions{
		State: f.State, Assignee: f.Assignee, Creator: f.Author, Labels: f.Labels, Since: f.Since, Sort: f.Sort, Direction: f.Order,
		ListOptions: gh.ListOptions{PerPage: perPage},
	}
	for range maxPages {
		some, resp, err := c.api.Issues.ListByRepo(ctx, at.Owner, at.Repo, options)
		if err != nil {
			return nil, false, apiFailure("list the issues of "+at.Repository(), err)
		}
		for _, i := range some {
			if i.IsPullRequest() {
				continue
			}
			if len(found) == limit {
				return found, true, nil
			}
			found = append(found, i)
		}
		// GitHub pages through long lists with a cursor, and through short ones with a page number.
		options.After, options.ListOptions.Page = resp.After, resp.NextPage
		if options.After == "" && options.ListOptions.Page == 0 {
			return found, false, nil
		}
	}
	return found, true, nil
}

// Search says what to search for in one repository: the words and qualifiers of GitHub's own search.
type Search struct {
	Query string
	// Pulls selects pull requests instead of issues.
	Pulls bool
	// Sort is created, updated or comments; the default is the best match. Order is asc or desc.
	Sort, Order string
}

// Search returns at most limit issues or pull requests that GitHub finds, and the total number that it found. Results in
// other repositories are left out.
func (c *Client) Search(ctx context.Context, at Place, s Search, limit int) (found []*gh.Issue, total int, err error) {
	kind := "is:issue"
	if s.Pulls {
		kind = "is:pull-request"
	}
	query := strings.Join([]string{"repo:" + at.Repository(), kind, s.Query}, " ")
	options := &gh.SearchOptions{Sort: s.Sort, Order: s.Order, ListOptions: gh.ListOptions{Page: 1, PerPage: perPage}}
	for options.Page != 0 && len(found) < limit {
		some, resp, err := c.api.Search.Issues(ctx, query, options)
		if err != nil {
			return nil, 0, apiFailure("search in "+at.Repository(), err)
		}
		total = some.GetTotal()
		for _, i := range some.Issues {
			if len(found) < limit && isIn(at, i) {
				found = append(found, i)
			}
		}
		options.Page = resp.NextPage
	}
	return found, total, nil
}

// isIn reports whether an issue from a search is in the repository.
func isIn(at Place, i *gh.Issue) bool {
	return strings.HasSuffix(strings.ToLower(i.GetRepositoryURL()), "/repos/"+strings.ToLower(at.Repository()))
}
