package github

import (
	"cmp"
	"context"
	"strconv"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

// deploymentStates maps the states in a step to the states in GitHub's API.
var deploymentStates = map[string]string{"waiting": "", "approved": github.DeploymentApproved, "rejected": github.DeploymentRejected}

var deploymentTool = toolSpec{
	info: newInfo("github_deployment", "Lets a job of GitHub Actions deploy that waits for it, refuses it, or tells it how far the decision is.",
		inputSchema(mergeFields(repoFields, fields{
			"state":       map[string]any{"enum": []string{"waiting", "approved", "rejected"}},
			"comment":     withDescription(textSchema, "Markdown, at most 1,024 characters; it stands on the page of the run at GitHub."),
			"run":         withDescription(numberSchema, "The id of the run of Actions; otherwise that of the event."),
			"environment": withDescription(nonEmptyTextSchema, "Otherwise that of the event."),
		}), "state"),
		outputSchema(fields{
			"repository": textSchema, "run": numberSchema, "environment": textSchema, "state": textSchema,
			"waited": withDescription(flagSchema, "GitHub took it; it is false where the job waited no more."),
		})),
	permissions: "Deployments: read and write, and Actions: read",
	do: func(ctx context.Context, d *toolCall) (tool.Result, error) {
		var in struct {
			Repo        string `json:"repo"`
			State       string `json:"state"`
			Comment     string `json:"comment"`
			Run         any    `json:"run"`
			Environment string `json:"environment"`
		}
		if err := d.read(&in); err != nil {
			return tool.Result{}, err
		}
		at, err := d.repository(target{Repo: in.Repo})
		if err != nil {
			return tool.Result{}, err
		}
		run, _ := strconv.ParseInt(firstNonBlank(textOf(in.Run), textOf(d.call.Trigger["run"])), 10, 64)
		environment := firstNonBlank(in.Environment, textOf(d.call.Trigger["environment"]))
		switch {
		case run <= 0 || environment == "":
			return tool.Result{}, fermata.Errorf(fermata.CodeInvalidRequest, "it is not said which deployment is meant").
				WithHint("start the workflow by the trigger deployment, or give run and environment in the step")
		case d.settings.AppID == 0:
			return tool.Result{}, fermata.Errorf(fermata.CodeForbidden, "only a GitHub App decides on deployments, and the channel has a token").
				WithHint("make the channel an App: docs/guides/github.md says how")
		}
		comment := cmp.Or(in.Comment, "Fermata: "+in.State)
		waited, err := d.client.ReviewDeployment(ctx, at, run, environment, deploymentStates[in.State], comment)
		if err != nil {
			return tool.Result{}, err
		}
		note := at.Repository() + " to " + environment + ": " + in.State
		if !waited {
			note = at.Repository() + " waits no more to deploy to " + environment
		}
		return tool.Result{Note: note, Output: map[string]any{
			"repository": at.Repository(), "run": int(run), "environment": environment, "state": in.State, "waited": waited,
		}}, nil
	},
}
