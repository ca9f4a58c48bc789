// Package github holds the tools that work on issues, branches, pull requests
// and checks at GitHub, as the account of the workspace's GitHub channel. Called
// again with the same key, a tool does nothing twice.
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

// Options are what the tools work with.
type Options struct {
	// Settings are those of the workspace's GitHub channel. An error with
	// [fermata.CodeNotFound] says that it has none.
	Settings func(ctx context.Context, workspace string) (github.Settings, error)
	// HTTP sends the requests; nil takes the usual client.
	HTTP *http.Client
}

// New returns the tools.
func New(o Options) []tool.Tool {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	a := &accounts{opts: o, clients: map[string]account{}}
	kinds := []kind{readIssue, listIssues, search, comment, addLabels, removeLabels, assign, createBranch, createPull, review, checks, deployment, updateIssue}
	tools := make([]tool.Tool, 0, len(kinds))
	for _, k := range kinds {
		tools = append(tools, &one{kind: k, accounts: a})
	}
	return tools
}

// kind is one of the tools.
type kind struct {
	info tool.Info
	// needs are the permissions without which GitHub refuses it.
	needs string
	do    func(ctx context.Context, d *desk) (tool.Result, error)
}

// one is a kind with the accounts to do it with.
type one struct {
	kind
	accounts *accounts
}

// Info implements [tool.Tool].
func (o *one) Info() tool.Info { return o.info }

// Call implements [tool.Tool].
func (o *one) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	acc, err := o.accounts.accountOf(ctx, c.Workspace)
	if err != nil {
		return tool.Result{}, o.judge(ctx, err)
	}
	result, err := o.do(ctx, &desk{account: acc, call: c})
	if err != nil {
		return tool.Result{}, o.judge(ctx, err)
	}
	return result, nil
}

// judge says whether trying again can help. A right that is missing is not
// there a minute later.
func (o *one) judge(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, known := errors.AsType[*fermata.Error](err)
	switch github.StatusOf(err) {
	case http.StatusForbidden:
		return tool.Hopeless(e.WithHint("give the token or the App of the channel the permission %s; docs/github.md says how", o.needs))
	case http.StatusUnauthorized, http.StatusConflict:
		return tool.Hopeless(e)
	}
	if _, judged := errors.AsType[tool.Failure](err); judged || !known {
		return err
	}
	if e.Code == fermata.CodeInternal || e.Code == fermata.CodeUnavailable {
		return tool.Passing(e)
	}
	return tool.Hopeless(e)
}

// account is a client with the settings that it was made of.
type account struct {
	settings github.Settings
	client   *github.Client
}

// accounts keep a client for each workspace: the token of an App's installation
// lasts an hour.
type accounts struct {
	opts Options

	mu      sync.Mutex
	clients map[string]account
}

// accountOf returns the account of a workspace as its channel is set now.
func (a *accounts) accountOf(ctx context.Context, workspace string) (account, error) {
	settings, err := a.opts.Settings(ctx, workspace)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return account{}, fermata.Errorf(fermata.CodeNotFound, "there is no GitHub channel, whose account the tool works with").
			WithHint("add one: fermata channel add github github token=env:GITHUB_TOKEN repository=owner/repo; docs/github.md says what it needs")
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
