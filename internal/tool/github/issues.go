package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

// issuePermissions are the permissions for work on issues and pull requests.
const issuePermissions = "Issues: read and write, and for pull requests Pull requests: read and write"

var readIssueTool = toolSpec{
	info: newInfo("github_read_issue", "Reads an issue or pull request at GitHub, with its comments if they are asked for.",
		inputSchema(mergeFields(issueRefFields, fields{"comments": map[string]any{
			"type": "integer", "minimum": 0, "maximum": 100, "description": "How many of the latest comments are read; 0 is usual.",
		}})),
		outputSchema(mergeFields(issueFields, fields{"body": textSchema, "comments": map[string]any{"type": "array"}}))),
	permissions: "Issues: read, and for pull requests Pull requests: read",
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			target
			Comments int `json:"comments"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.issue(in.target)
		if err != nil {
			return tool.Result{}, err
		}
		issue, err := d.client.Issue(ctx, at)
		if err != nil {
			return tool.Result{}, err
		}
		comments, err := d.latestComments(ctx, at, in.Comments)
		if err != nil {
			return tool.Result{}, err
		}
		out := describe(at, issue)
		out["body"], out["comments"] = issue.GetBody(), comments
		return tool.Result{Note: "Read " + at.String(), Output: out}, nil
	},
}

// latestComments returns the latest comments of an issue, oldest first.
func (d *toolCall) latestComments(ctx context.Context, at github.Place, limit int) ([]any, error) {
	all := []any{}
	if limit == 0 {
		return all, nil
	}
	comments, err := d.client.Comments(ctx, at, time.Time{})
	for _, c := range comments[max(0, len(comments)-limit):] {
		all = append(all, map[string]any{
			"id": int(c.ID), "author": c.User.Login, "body": c.Body, "created_at": c.CreatedAt.UTC().Format(time.RFC3339), "url": c.HTMLURL,
		})
	}
	return all, err
}

var commentTool = toolSpec{
	info: newInfo("github_comment", "Writes a comment on an issue or pull request at GitHub.",
		inputSchema(mergeFields(issueRefFields, fields{"body": withDescription(nonEmptyTextSchema, "Markdown.")}), "body"),
		outputSchema(fields{"id": numberSchema, "url": textSchema, "created": flagSchema})),
	permissions: issuePermissions,
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			target
			Body string `json:"body"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.issue(in.target)
		if err != nil {
			return tool.Result{}, err
		}
		c, created, err := d.client.CommentOnce(ctx, at, in.Body, d.call.Key)
		if err != nil {
			return tool.Result{}, err
		}
		note := "Commented on " + at.String()
		if !created {
			note = "The comment on " + at.String() + " was there already"
		}
		return tool.Result{Note: note, Output: map[string]any{"id": int(c.ID), "url": c.HTMLURL, "created": created}}, nil
	},
}

// newLabelTool returns a tool that changes the labels of an issue.
func newLabelTool(name, description, note string, change func(ctx context.Context, c *github.Client, at github.Place, labels []string) ([]string, error)) toolSpec {
	return toolSpec{
		info: newInfo(name, description,
			inputSchema(mergeFields(issueRefFields, fields{"labels": textsSchema}), "labels"), outputSchema(fields{"labels": withDescription(textsSchema, "All that the issue has then.")})),
		permissions: issuePermissions,
		do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
			var in struct {
				target
				Labels []string `json:"labels"`
			}
			if err := d.read(&in); err != nil {
				return tool.Result{}, err
			}
			at, err := d.issue(in.target)
			if err != nil {
				return tool.Result{}, err
			}
			all, err := change(ctx, d.client, at, in.Labels)
			if err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Note: fmt.Sprintf(note, strings.Join(in.Labels, ", "), at), Output: map[string]any{"labels": toList(all)}}, nil
		},
	}
}

var addLabelsTool = newLabelTool("github_add_labels", "Sets labels on an issue or pull request at GitHub.", "Set %s on %s",
	func(ctx context.Context, c *github.Client, at github.Place, labels []string) ([]string, error) {
		return c.AddLabels(ctx, at, labels)
	})

var removeLabelsTool = newLabelTool("github_remove_labels", "Takes labels off an issue or pull request at GitHub, those that it has.", "Took %s off %s",
	func(ctx context.Context, c *github.Client, at github.Place, labels []string) ([]string, error) {
		return c.RemoveLabels(ctx, at, labels)
	})

var assignTool = toolSpec{
	info: newInfo("github_assign", "Assigns people to an issue or pull request at GitHub, besides those who are.",
		inputSchema(mergeFields(issueRefFields, fields{"assignees": withDescription(textsSchema, "Logins.")}), "assignees"),
		outputSchema(fields{"assignees": textsSchema, "left_out": withDescription(textsSchema, "Whom GitHub does not let be assigned.")})),
	permissions: issuePermissions,
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			target
			Assignees []string `json:"assignees"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.issue(in.target)
		if err != nil {
			return tool.Result{}, err
		}
		all, leftOut, err := d.client.AddAssignees(ctx, at, in.Assignees)
		if err != nil {
			return tool.Result{}, err
		}
		note := "Assigned " + at.String()
		if len(leftOut) > 0 {
			note += "; GitHub left out " + strings.Join(leftOut, ", ")
		}
		return tool.Result{Note: note, Output: map[string]any{"assignees": toList(all), "left_out": toList(leftOut)}}, nil
	},
}
