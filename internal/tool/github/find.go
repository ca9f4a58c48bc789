package github

import (
	"cmp"
	"context"
	"fmt"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/tool"
)

// defaultLimit is how many issues are returned if the step gives no limit.
const defaultLimit = 30

// issueFields are the fields that every issue and pull request has in an output.
var issueFields = fields{
	"repository": textSchema, "number": numberSchema, "title": textSchema, "state": textSchema, "state_reason": textSchema, "author": textSchema,
	"labels": textsSchema, "assignees": textsSchema, "is_pull_request": flagSchema, "created_at": textSchema, "updated_at": textSchema, "url": textSchema,
}

// describe returns the fields of an issue for an output.
func describe(at github.Place, i *gh.Issue) map[string]any {
	labels, assignees := []any{}, []any{}
	for _, l := range i.Labels {
		labels = append(labels, l.GetName())
	}
	for _, u := range i.Assignees {
		assignees = append(assignees, u.GetLogin())
	}
	return map[string]any{
		"repository": at.Repository(), "number": i.GetNumber(), "title": i.GetTitle(), "state": i.GetState(), "state_reason": i.GetStateReason(),
		"author": i.GetUser().GetLogin(), "labels": labels, "assignees": assignees, "is_pull_request": i.IsPullRequest(),
		"created_at": i.GetCreatedAt().UTC().Format(time.RFC3339), "updated_at": i.GetUpdatedAt().UTC().Format(time.RFC3339), "url": i.GetHTMLURL(),
	}
}

func describeAll(at github.Place, issues []*gh.Issue) []any {
	all := make([]any, 0, len(issues))
	for _, i := range issues {
		all = append(all, describe(at, i))
	}
	return all
}

var (
	// orderFields are the input fields for the order of the issues and for their number.
	orderFields = mergeFields(repoFields, fields{
		"sort":  map[string]any{"enum": []string{"created", "updated", "comments"}},
		"order": map[string]any{"enum": []string{"asc", "desc"}},
		"limit": map[string]any{"type": "integer", "minimum": 1, "maximum": 200, "description": "The most that are given; 30 is usual."},
	})
	issueList = map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": issueFields}}
)

// order is the part of an input with the order of the issues and their number.
type order struct {
	Repo  string `json:"repo"`
	Sort  string `json:"sort"`
	Order string `json:"order"`
	Limit int    `json:"limit"`
}

func (o *order) limit() int { return cmp.Or(o.Limit, defaultLimit) }

var listIssuesTool = toolSpec{
	info: newInfo("github_list_issues", "Lists issues of a repository at GitHub, without pull requests.",
		inputSchema(mergeFields(orderFields, fields{
			"state":    map[string]any{"enum": []string{"open", "closed", "all"}, "description": "Otherwise open."},
			"labels":   withDescription(textsSchema, "All of them are on the issue."),
			"assignee": withDescription(nonEmptyTextSchema, "A login; none for issues that nobody has, * for those that somebody has."),
			"author":   withDescription(nonEmptyTextSchema, "A login."),
			"since":    withDescription(nonEmptyTextSchema, "Only what was changed since then, such as 2026-11-28T09:00:00Z."),
		})),
		outputSchema(fields{"repository": textSchema, "issues": issueList, "more": withDescription(flagSchema, "There are more of them.")})),
	permissions: "Issues: read",
	check:       checkSince,
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			order
			State    string   `json:"state"`
			Labels   []string `json:"labels"`
			Assignee string   `json:"assignee"`
			Author   string   `json:"author"`
			Since    string   `json:"since"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.repository(target{Repo: in.Repo})
		if err != nil {
			return tool.Result{}, err
		}
		since, err := parseInstant(in.Since)
		if err != nil {
			return tool.Result{}, err
		}
		found, more, err := d.client.Issues(ctx, at, github.IssueFilter{
			State: in.State, Assignee: in.Assignee, Author: in.Author, Labels: in.Labels, Since: since, Sort: in.Sort, Order: in.Order,
		}, in.limit())
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Note: fmt.Sprintf("%d issues in %s", len(found), at.Repository()), Output: map[string]any{
			"repository": at.Repository(), "issues": describeAll(at, found), "more": more,
		}}, nil
	},
}

// scopeQualifier matches qualifiers that would search outside the repository.
var scopeQualifier = lazyregexp.New(`(?i)(?:^|[\s(-])(repo|org|user):`)

var searchTool = toolSpec{
	info: newInfo("github_search", "Searches for issues or pull requests of a repository at GitHub.",
		inputSchema(mergeFields(orderFields, fields{
			"query": withDescription(nonEmptyTextSchema, `Words and qualifiers as in GitHub's own search: is:open label:bug no:assignee -label:later "exact words".`),
			"kind":  map[string]any{"enum": []string{"issues", "pull_requests"}, "description": "Otherwise issues."},
		}), "query"),
		outputSchema(fields{"repository": textSchema, "issues": issueList, "total": withDescription(numberSchema, "How many there are.")})),
	permissions: "Issues: read, and for pull requests Pull requests: read",
	check:       checkQuery,
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			order
			Query string `json:"query"`
			Kind  string `json:"kind"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.repository(target{Repo: in.Repo})
		if err != nil {
			return tool.Result{}, err
		}
		found, total, err := d.client.Search(ctx, at, github.Search{
			Query: in.Query, Pulls: in.Kind == "pull_requests", Sort: in.Sort, Order: in.Order,
		}, in.limit())
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Note: fmt.Sprintf("%d of %d found in %s", len(found), total, at.Repository()), Output: map[string]any{
			"repository": at.Repository(), "issues": describeAll(at, found), "total": total,
		}}, nil
	},
}
