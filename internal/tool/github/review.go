package github

import (
	"cmp"
	"context"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

// verdicts maps the verdicts in a step to the verdicts in GitHub's API.
var verdicts = map[string]string{"comment": "COMMENT", "approve": "APPROVE", "request_changes": "REQUEST_CHANGES"}

// remark is a comment of a review on some lines.
type remark struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	StartLine int    `json:"start_line"`
	Side      string `json:"side"`
	Body      string `json:"body"`
}

// remarksSchema is the JSON Schema of the remarks.
var remarksSchema = map[string]any{
	"type": "array", "maxItems": 100, "description": "What is said of lines that the pull request changes.",
	"items": map[string]any{
		"type": "object", "required": []string{"path", "line", "body"}, "additionalProperties": false,
		"properties": fields{
			"path": withDescription(nonEmptyTextSchema, "The file, from the top of the repository."),
			"line": map[string]any{"type": "integer", "minimum": 1}, "start_line": map[string]any{
				"type": "integer", "minimum": 1, "description": "The first of several lines, of which line is the last.",
			},
			"side": map[string]any{"enum": []string{"LEFT", "RIGHT"}, "description": "RIGHT for the new text, which is usual; LEFT for the old one."},
			"body": withDescription(nonEmptyTextSchema, "Markdown."),
		},
	},
}

var reviewTool = toolSpec{
	info: newInfo("github_review", "Reviews a pull request at GitHub: a verdict, a text, and remarks on lines.",
		inputSchema(mergeFields(repoFields, fields{
			"pull":    withDescription(issueRefFields["issue"].(map[string]any), "Number, owner/repo#number or address of the pull request; otherwise the run's input issue, or that of the event."),
			"verdict": map[string]any{"enum": []string{"comment", "approve", "request_changes"}, "description": "Otherwise comment."},
			"body":    withDescription(textSchema, "Markdown. Only approve needs none."),
			"commit":  withDescription(nonEmptyTextSchema, "The commit that was looked at; otherwise the last one of the pull request."),
			"remarks": remarksSchema,
		})),
		outputSchema(fields{"id": numberSchema, "url": textSchema, "state": textSchema, "created": flagSchema})),
	permissions: "Pull requests: read and write",
	check:       checkReviewBody,
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			Repo    string   `json:"repo"`
			Pull    any      `json:"pull"`
			Verdict string   `json:"verdict"`
			Body    string   `json:"body"`
			Commit  string   `json:"commit"`
			Remarks []remark `json:"remarks"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.issue(target{Repo: in.Repo, Issue: in.Pull})
		if err != nil {
			return tool.Result{}, err
		}
		r, created, err := d.client.ReviewOnce(ctx, at, github.NewReview{
			Event: verdicts[cmp.Or(in.Verdict, "comment")], Body: in.Body, Commit: in.Commit, Comments: draftComments(in.Remarks), Key: d.call.Key,
		})
		if err != nil {
			return tool.Result{}, err
		}
		note := "Reviewed " + at.String()
		if !created {
			note = "The review of " + at.String() + " was there already"
		}
		return tool.Result{Note: note, Output: map[string]any{"id": int(r.ID), "url": r.HTMLURL, "state": strings.ToLower(r.State), "created": created}}, nil
	},
}

// draftComments converts remarks to the form of GitHub's API.
func draftComments(all []remark) []*gh.DraftReviewComment {
	var comments []*gh.DraftReviewComment
	for _, r := range all {
		side := new(cmp.Or(r.Side, "RIGHT"))
		draft := &gh.DraftReviewComment{Path: &r.Path, Line: &r.Line, Side: side, Body: &r.Body}
		if r.StartLine != 0 {
			draft.StartLine, draft.StartSide = &r.StartLine, side
		}
		comments = append(comments, draft)
	}
	return comments
}
