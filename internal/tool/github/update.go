package github

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

// update holds all changes of an issue that one call can make.
type update struct {
	target
	AddLabels    []string `json:"addLabels"`
	RemoveLabels []string `json:"removeLabels"`
	AddComment   string   `json:"addComment"`
	Assignees    []string `json:"assignees"`
	State        string   `json:"state"`
	StateReason  string   `json:"stateReason"`
}

var updateIssueTool = toolSpec{
	info: newInfo("update_github_issue", "Changes an issue or pull request at GitHub: labels, people, a comment, its state.",
		inputSchema(mergeFields(issueRefFields, fields{
			"addLabels": textsSchema, "removeLabels": textsSchema,
			"addComment":  withDescription(textSchema, "Markdown."),
			"assignees":   withDescription(textsSchema, "Logins of people to assign besides those who are."),
			"state":       map[string]any{"enum": []string{"open", "closed"}},
			"stateReason": map[string]any{"enum": []string{"completed", "not_planned", "reopened"}},
		})),
		outputSchema(fields{"issue": numberSchema, "repository": textSchema, "changed": textsSchema})),
	permissions: issuePermissions,
	check:       checkStateReason,
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in update
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.issue(in.target)
		if err != nil {
			return tool.Result{}, err
		}
		changed, err := in.apply(ctx, d, at)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Note: at.String() + ": " + strings.Join(changed, ", "), Output: map[string]any{
			"issue": at.Number, "repository": at.Repository(), "changed": toList(changed),
		}}, nil
	},
}

// apply makes all changes. Repeating a change has no effect.
func (in *update) apply(ctx context.Context, d *toolCall, at github.Place) (changed []string, err error) {
	changes := []struct {
		name   string
		wanted bool
		make   func() error
	}{
		{"labels added", len(in.AddLabels) > 0, func() error { _, err := d.client.AddLabels(ctx, at, in.AddLabels); return err }},
		{"labels removed", len(in.RemoveLabels) > 0, func() error { _, err := d.client.RemoveLabels(ctx, at, in.RemoveLabels); return err }},
		{"assigned", len(in.Assignees) > 0, func() error { _, _, err := d.client.AddAssignees(ctx, at, in.Assignees); return err }},
		{"commented", in.AddComment != "", func() error { _, _, err := d.client.CommentOnce(ctx, at, in.AddComment, d.call.Key); return err }},
		{"state " + in.State, in.State != "", func() error { return d.client.SetState(ctx, at, in.State, in.StateReason) }},
	}
	for _, c := range changes {
		if !c.wanted {
			continue
		}
		if err := c.make(); err != nil {
			return nil, err
		}
		changed = append(changed, c.name)
	}
	return changed, nil
}
