// Package github holds the tools for issues, branches, pull requests and checks
// at GitHub. They use the account of the workspace's GitHub channel. If a tool
// is called again with the same key, it repeats no effect.
package github

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

// Options configure the tools.
type Options struct {
	// Settings returns the settings of the workspace's GitHub channel. An error
	// with [fermata.CodeNotFound] means that the workspace has no such channel.
	Settings func(ctx context.Context, workspace string) (github.Settings, error)
	// HTTP sends the requests; nil means http.DefaultClient.
	HTTP *http.Client
}

// New returns all tools.
func New(o Options) []tool.Tool {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	a := &accounts{opts: o, clients: map[string]account{}}
	kinds := []toolSpec{readIssueTool, listIssuesTool, searchTool, commentTool, addLabelsTool, removeLabelsTool, assignTool, createBranchTool, createPullTool, reviewTool, checksTool, deploymentTool, updateIssueTool}
	tools := make([]tool.Tool, 0, len(kinds))
	for _, k := range kinds {
		tools = append(tools, &githubTool{toolSpec: k, accounts: a})
	}
	return tools
}

// toolSpec describes one of the tools.
type toolSpec struct {
	info tool.Info
	// permissions names the GitHub permissions that the tool requires.
	permissions string
	// check returns what no input of this tool may hold, in addition to what [githubTool.checkInput] knows; nil for nothing.
	check func(input map[string]any) error
	do    func(ctx context.Context, d *toolCall) (tool.Result, error)
}

// githubTool is a tool together with the accounts that it can use.
type githubTool struct {
	toolSpec
	accounts *accounts
}

// Info implements [tool.Tool].
func (o *githubTool) Info() tool.Info {
	info := o.info
	info.Check = o.checkInput
	return info
}

// Call implements [tool.Tool].
func (o *githubTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	if err := o.checkInput(c.Input); err != nil {
		return tool.Result{}, o.classifyError(ctx, err)
	}
	acc, err := o.accounts.accountOf(ctx, c.Workspace)
	if err != nil {
		return tool.Result{}, o.classifyError(ctx, err)
	}
	result, err := o.do(ctx, &toolCall{account: acc, call: c})
	if err != nil {
		return tool.Result{}, o.classifyError(ctx, err)
	}
	return result, nil
}

// classifyError says whether a retry can help. A missing permission is
// permanent, because an administrator must grant it.
func (o *githubTool) classifyError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, known := errors.AsType[*fermata.Error](err)
	switch github.StatusOf(err) {
	case http.StatusForbidden:
		return tool.Permanent(e.WithHint("give the token or the App of the channel the permission %s; docs/guides/github.md says how", o.permissions))
	case http.StatusUnauthorized, http.StatusConflict:
		return tool.Permanent(e)
	}
	if _, judged := errors.AsType[tool.Failure](err); judged || !known {
		return err
	}
	if e.Code == fermata.CodeInternal || e.Code == fermata.CodeUnavailable {
		return tool.Transient(e)
	}
	return tool.Permanent(e)
}

// account is a client with the settings from which it was created.
type account struct {
	settings github.Settings
	client   *github.Client
}

// accounts caches one client for each workspace, because the token of an App's
// installation lasts an hour.
type accounts struct {
	opts Options

	mu      sync.Mutex
	clients map[string]account
}

// accountOf returns the account of a workspace for the current settings of its
// channel.
func (a *accounts) accountOf(ctx context.Context, workspace string) (account, error) {
	settings, err := a.opts.Settings(ctx, workspace)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return account{}, fermata.Errorf(fermata.CodeNotFound, "there is no GitHub channel, whose account the tool works with").
			WithHint("add one: fermata channel add github github token=env:GITHUB_TOKEN repository=owner/repo; docs/guides/github.md says what it needs")
	}
	if err != nil {
		return account{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if have, ok := a.clients[workspace]; ok && reflect.DeepEqual(have.settings, settings) {
		return have, nil
	}
	client, err := github.NewClient(settings, a.opts.HTTP)
	if err != nil {
		return account{}, fermata.Errorf(fermata.CodeInvalidRequest, "the settings of the GitHub channel are not valid: %w", err)
	}
	a.clients[workspace] = account{settings, client}
	return a.clients[workspace], nil
}
