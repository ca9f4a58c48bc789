package app

import (
	"context"
	"os"
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

// secretVariable begins the names of the variables that hold the secrets of
// workflows.
const secretVariable = "FERMATA_SECRET_"

// secret returns what the definitions of workflows call secrets.NAME.
func secret(name string) (string, error) {
	variable := secretVariable + strings.ToUpper(name)
	if v, ok := os.LookupEnv(variable); ok {
		return v, nil
	}
	return "", fermata.Errorf(fermata.CodeNotFound, "there is no secret %s", name).WithHint("start the server with the variable %s", variable)
}

// secretNames lists what [secret] knows.
func secretNames() []string {
	var names []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name, ok := strings.CutPrefix(name, secretVariable); ok {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// newWorkflows puts together what runs workflows.
func newWorkflows(o ServeOptions, db *store.DB, e *engine.Engine, deliver *delivery.Service) (*flows, error) {
	client, err := outboundClient(o)
	if err != nil {
		return nil, err
	}
	kinds := make([]string, 0, len(deliver.Kinds))
	for _, k := range deliver.Kinds {
		kinds = append(kinds, k.Name)
	}
	servers := newToolServers(o, client)
	github := toolgithub.Options{Settings: githubSettings(deliver), HTTP: client}
	return &flows{servers: servers, Service: workflow.New(workflow.Options{
		DB: db, Engine: e, Tools: workflowTools(notifyTool{deliver}, http.New(client), github), Servers: servers, Secret: secret, SecretNames: secretNames, PublicURL: o.PublicURL, Log: o.Log,
		ChannelKinds: kinds,
	})}, nil
}

// workflowTools are the tools of every server, beside those of the engine.
func workflowTools(notify notifyTool, web tool.Tool, github toolgithub.Options) []tool.Tool {
	return append([]tool.Tool{notify, web}, toolgithub.New(github)...)
}

// WorkflowTools describes the tools of every server, for where there is none.
func WorkflowTools() []tool.Info {
	var all []tool.Info
	for _, t := range workflowTools(notifyTool{}, http.New(nil), toolgithub.Options{}) {
		all = append(all, t.Info())
	}
	return all
}

// flows are the workflows of a server, with the connections of their tools.
type flows struct {
	*workflow.Service
	servers *toolServers
}

// run runs workflows until ctx ends.
func (f *flows) run(ctx context.Context) {
	f.Run(ctx)
	f.servers.close()
}

// githubSettings returns what reads the settings of a workspace's GitHub channel.
func githubSettings(deliver *delivery.Service) func(context.Context, string) (github.Settings, error) {
	return func(ctx context.Context, workspace string) (github.Settings, error) {
		settings, err := deliver.Settings(ctx, workspace, github.Kind)
		if err != nil {
			return github.Settings{}, err
		}
		return github.ReadSettings(settings)
	}
}
