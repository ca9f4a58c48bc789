package github

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

var createBranchTool = toolSpec{
	info: newInfo("github_create_branch", "Makes a branch at GitHub. One that is there already is left as it is.",
		inputSchema(mergeFields(repoFields, fields{
			"name": nonEmptyTextSchema,
			"from": withDescription(nonEmptyTextSchema, "Branch, tag or commit where it begins; otherwise the default branch."),
		}), "name"),
		outputSchema(fields{"repository": textSchema, "name": textSchema, "sha": textSchema, "created": flagSchema})),
	permissions: "Contents: read and write",
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			Repo string `json:"repo"`
			Name string `json:"name"`
			From string `json:"from"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.repository(target{Repo: in.Repo})
		if err != nil {
			return tool.Result{}, err
		}
		from, err := d.commit(ctx, at, in.From)
		if err != nil {
			return tool.Result{}, err
		}
		sha, created, err := d.client.CreateBranch(ctx, at, in.Name, from)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Note: "Branch " + in.Name, Output: map[string]any{
			"repository": at.Repository(), "name": in.Name, "sha": sha, "created": created,
		}}, nil
	},
}

// commit returns the SHA of a ref. If ref is "", it returns the SHA of the
// default branch.
func (d *toolCall) commit(ctx context.Context, at github.Place, ref string) (string, error) {
	if ref == "" {
		base, err := d.client.DefaultBranch(ctx, at)
		if err != nil {
			return "", err
		}
		ref = base
	}
	sha, err := d.client.Commit(ctx, at, ref)
	if err == nil && sha == "" {
		err = fermata.Errorf(fermata.CodeNotFound, "there is no branch, tag or commit %s in %s", ref, at.Repository()).
			WithHint("name one that was pushed")
	}
	return sha, err
}

// pullInput is the input of a pull request. Every field is optional.
type pullInput struct {
	target
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Head   string   `json:"head"`
	Base   string   `json:"base"`
	Draft  bool     `json:"draft"`
	Labels []string `json:"labels"`
}

var createPullTool = toolSpec{
	info: newInfo("github_create_pr", "Opens a pull request at GitHub, unless there is one for the branch.",
		inputSchema(mergeFields(issueRefFields, fields{
			"title":  withDescription(textSchema, "Otherwise that of the issue, or the workflow's name."),
			"body":   withDescription(textSchema, "Markdown; otherwise it says where it comes from, and closes the issue."),
			"head":   withDescription(textSchema, "The branch with the changes, pushed before; otherwise that of the run's working copy."),
			"base":   withDescription(textSchema, "Where the changes go; otherwise the default branch."),
			"draft":  flagSchema,
			"labels": textsSchema,
		})),
		outputSchema(fields{
			"repository": textSchema, "number": numberSchema, "url": textSchema, "state": textSchema, "head": textSchema, "base": textSchema, "sha": textSchema, "created": flagSchema,
		})),
	permissions: "Pull requests: read and write, and Contents: read",
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in pullInput
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.repository(in.target)
		if err != nil {
			return tool.Result{}, err
		}
		p, err := d.newPull(ctx, at, &in)
		if err != nil {
			return tool.Result{}, err
		}
		pull, created, err := d.client.OpenPull(ctx, at, p)
		if err != nil {
			return tool.Result{}, err
		}
		at.Number = pull.GetNumber()
		if len(in.Labels) > 0 {
			if _, err := d.client.AddLabels(ctx, at, in.Labels); err != nil {
				return tool.Result{}, err
			}
		}
		return tool.Result{Note: "Pull request " + at.String(), Output: map[string]any{
			"repository": at.Repository(), "number": at.Number, "url": pull.GetHTMLURL(), "state": pull.GetState(),
			"head": pull.GetHead().GetRef(), "base": pull.GetBase().GetRef(), "sha": pull.GetHead().GetSHA(), "created": created,
		}}, nil
	},
}

// newPull returns the pull request to open. It fills in the fields that the
// step leaves out.
func (d *toolCall) newPull(ctx context.Context, at github.Place, in *pullInput) (github.NewPull, error) {
	p := github.NewPull{
		Title: in.Title, Body: in.Body, Head: cmp.Or(in.Head, d.workingBranch()), Base: in.Base, Draft: in.Draft, Key: d.call.Key,
	}
	if p.Base == "" {
		base, err := d.client.DefaultBranch(ctx, at)
		if err != nil {
			return p, err
		}
		p.Base = base
	}
	if p.Title != "" && p.Body != "" {
		return p, nil
	}
	title, body := cmp.Or(d.call.Workflow, "Fermata")+": "+d.call.RunID, fmt.Sprintf("Made by the workflow `%s`, run `%s`.", d.call.Workflow, d.call.RunID)
	issue, named, err := d.findIssue(in.target)
	if err != nil {
		return p, err
	}
	if named {
		about, err := d.client.Issue(ctx, issue)
		if err != nil {
			return p, err
		}
		title, body = fmt.Sprintf("%s (#%d)", about.GetTitle(), issue.Number), "Closes "+issue.String()+".\n\n"+body
	}
	p.Title, p.Body = cmp.Or(p.Title, title), cmp.Or(p.Body, body)
	return p, nil
}

// pendingWait is how long a step that expects success waits before it reads the
// checks again.
const pendingWait = 15 * time.Second

var checksTool = toolSpec{
	info: newInfo("github_checks", "Reads the checks of a branch, commit or pull request at GitHub.",
		inputSchema(mergeFields(repoFields, fields{
			"ref":    withDescription(nonEmptyTextSchema, "Branch, tag or commit; otherwise the branch of the run's working copy."),
			"pull":   withDescription(numberSchema, "Number of a pull request, instead of ref."),
			"expect": map[string]any{"const": "success", "description": "Fails unless all succeeded. With retry, the step so waits for them."},
		})),
		outputSchema(fields{
			"repository": textSchema, "sha": textSchema, "state": map[string]any{"enum": []string{"success", "failure", "pending", "none"}},
			"checks": map[string]any{"type": "array"}, "failed": textsSchema, "pending": textsSchema,
		})),
	permissions: "Checks: read, Commit statuses: read and Contents: read",
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			Repo   string `json:"repo"`
			Ref    string `json:"ref"`
			Pull   int    `json:"pull"`
			Expect string `json:"expect"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.repository(target{Repo: in.Repo})
		if err != nil {
			return tool.Result{}, err
		}
		sha := ""
		if at.Number = in.Pull; in.Pull != 0 {
			_, sha, err = d.client.PullHead(ctx, at)
		} else {
			sha, err = d.commit(ctx, at, cmp.Or(in.Ref, d.workingBranch()))
		}
		if err != nil {
			return tool.Result{}, err
		}
		return d.checksResult(ctx, at, sha, in.Expect)
	},
}

// checksResult returns the result of the checks of a commit.
func (d *toolCall) checksResult(ctx context.Context, at github.Place, sha, expect string) (tool.Result, error) {
	all, state, err := d.client.Checks(ctx, at, sha)
	if err != nil {
		return tool.Result{}, err
	}
	found, failed, pending := []any{}, []any{}, []any{}
	for _, c := range all {
		found = append(found, map[string]any{"name": c.Name, "state": string(c.State), "url": c.URL})
		switch c.State {
		case github.CheckFailure:
			failed = append(failed, c.Name)
		case github.CheckPending:
			pending = append(pending, c.Name)
		case github.CheckSuccess, github.CheckNone:
		}
	}
	if expect != "" {
		if err := checksFailure(state, sha, failed, pending); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{Note: fmt.Sprintf("%d checks: %s", len(all), state), Output: map[string]any{
		"repository": at.Repository(), "sha": sha, "state": string(state), "checks": found, "failed": failed, "pending": pending,
	}}, nil
}

// checksFailure returns the failure of checks that did not succeed. If some are
// not done yet, a retry may help.
func checksFailure(state github.CheckState, sha string, failed, pending []any) error {
	var e *fermata.Error
	switch state {
	case github.CheckSuccess:
		return nil
	case github.CheckFailure:
		return tool.Permanent(fermata.Errorf(fermata.CodeIllegalTransition, "checks of %.7s failed: %v", sha, failed))
	case github.CheckNone:
		e = fermata.Errorf(fermata.CodeUnavailable, "%.7s has no checks yet", sha)
	case github.CheckPending:
		e = fermata.Errorf(fermata.CodeUnavailable, "checks of %.7s are not done yet: %v", sha, pending)
	}
	e.RetryAfter = pendingWait
	return tool.Transient(e.WithHint("give the step retry, so that it checks again"))
}
