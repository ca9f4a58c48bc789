package app

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	toolgithub "github.com/fermata-hq/fermata/internal/tool/github"
	"github.com/fermata-hq/fermata/internal/tool/http"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// secretVariable is the prefix of the environment variables that hold the secrets of workflows.
const secretVariable = "FERMATA_SECRET_"

// lookUpSecret returns the secret that workflow definitions name as secrets.NAME.
func lookUpSecret(name string) (string, error) {
	name = strings.ToUpper(name)
	variable := secretVariable + name
	if v, ok := os.LookupEnv(variable); ok {
		return v, nil
	}
	return "", fermata.Errorf(fermata.CodeNotFound, "there is no secret %s", name).WithHint("start the server with the variable %s", variable)
}

// secretNames lists the names that [lookUpSecret] knows.
func secretNames() []string {
	var names []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name, ok := strings.CutPrefix(name, secretVariable); ok {
			names = append(names, name)
		}
	}
	return names
}

// secretCheck returns a function that refuses a secret to workflows of other projects. The projects of a secret
// are separated by commas. All projects may use a secret that is not in named.
func secretCheck(named map[string]string) (checkUse func(project, name string) *fermata.Error, err error) {
	projects := map[string][]string{}
	for name, list := range named {
		name = strings.ToUpper(name)
		if _, err := lookUpSecret(name); err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--secret-projects names the secret %s, which is not there", name).
				WithHint("start the server with the variable %s", secretVariable+name)
		}
		for project := range strings.SplitSeq(list, ",") {
			if project = strings.TrimSpace(project); project == "" {
				return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--secret-projects: %s=%s names no project", name, list).
					WithHint("write %s=web,api", name)
			}
			projects[name] = append(projects[name], project)
		}
	}
	return func(project, name string) *fermata.Error {
		name = strings.ToUpper(name)
		allowed, limited := projects[name]
		if !limited || slices.Contains(allowed, project) {
			return nil
		}
		return fermata.Errorf(fermata.CodeForbidden, "the secret %s is not for workflows of the project %s", name, project).
			WithHint("let a workflow of another project use it, or add %s to its projects: fermata serve --secret-projects", project)
	}, nil
}

// newWorkflows creates the service that runs workflows.
func newWorkflows(o ServeOptions, db *store.DB, e *engine.Engine, deliveries *delivery.Service) (*workflowService, error) {
	client, err := outboundClient(o)
	if err != nil {
		return nil, err
	}
	kinds := make([]string, 0, len(deliveries.Kinds))
	for _, k := range deliveries.Kinds {
		kinds = append(kinds, k.Name)
	}
	checkUse, err := secretCheck(o.SecretProjects)
	if err != nil {
		return nil, err
	}
	servers := newToolServers(o, client)
	github := toolgithub.Options{Settings: githubSettings(deliveries), HTTP: client}
	return &workflowService{servers: servers, Service: workflow.New(workflow.Options{
		DB: db, Engine: e, Tools: workflowTools(notifyTool{deliveries}, http.New(client), github), Servers: servers, Secret: lookUpSecret, SecretNames: secretNames, CheckSecretUse: checkUse, PublicURL: o.PublicURL, Log: o.Log,
		ChannelKinds: kinds,
	})}, nil
}

// workflowTools returns the tools of every server, except those of the engine.
func workflowTools(notify notifyTool, web tool.Tool, github toolgithub.Options) []tool.Tool {
	return append([]tool.Tool{notify, web}, toolgithub.New(github)...)
}

// WorkflowTools describes the tools that every server has, for use without a server.
func WorkflowTools() []tool.Info {
	var all []tool.Info
	for _, t := range workflowTools(notifyTool{}, http.New(nil), toolgithub.Options{}) {
		all = append(all, t.Info())
	}
	return all
}

// workflowService are the workflows of a server, with the connections of their tools.
type workflowService struct {
	*workflow.Service
	servers *toolServers
}

// run runs workflows until ctx ends.
func (f *workflowService) run(ctx context.Context) {
	f.Run(ctx)
	f.servers.close()
}

// githubSettings returns a function that reads the settings of a workspace's GitHub channel.
func githubSettings(deliveries *delivery.Service) func(context.Context, string) (github.Settings, error) {
	return func(ctx context.Context, workspace string) (github.Settings, error) {
		settings, err := deliveries.Settings(ctx, workspace, github.Kind)
		if err != nil {
			return github.Settings{}, err
		}
		return github.ReadSettings(settings)
	}
}
