package workflow

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Names of the built-in tools. A step with one of them waits, except a question without suspend.
const (
	toolQuestion = "post_question"
	toolApproval = "request_approval"
	toolAgent    = "agent"
	toolShell    = "shell"
	toolWait     = "wait"
	toolWorkflow = "workflow"
)

// catalog returns the tools, channels, workflows and secrets that a definition of the caller may name.
func (s *Service) catalog(ctx context.Context, c fermata.Caller) (definition.Catalog, error) {
	workspace := c.WorkspaceID
	named, err := s.db.Reader(ctx, workspace).NamedTools()
	if err != nil {
		return definition.Catalog{}, err
	}
	known := definition.Catalog{Tools: maps.Clone(builtInByName), NeededInputs: map[string]definition.NeededInputs{}, CheckSecretUse: s.checkSecretUse}
	policy, err := s.db.Reader(ctx, workspace).Policy()
	if err != nil {
		return definition.Catalog{}, err
	}
	known.Policy = &policy
	if err := s.addChannels(ctx, workspace, &known); err != nil {
		return definition.Catalog{}, err
	}
	r := s.readerFor(ctx, c)
	workflows := sync.OnceValues(r.Workflows)
	known.InputsOf = func(project, name string) ([]definition.Input, []string, error) {
		all, err := workflows()
		if err != nil {
			return nil, nil, err
		}
		return s.workflowInputs(r, all, project, name)
	}
	for name, t := range s.tools {
		known.Tools[name] = t.Info()
	}
	for _, n := range named {
		if n.Server == nil {
			known.Tools[n.Name] = tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema}
			known.DelegatedTools = append(known.DelegatedTools, n.Name)
			if n.Agent == nil {
				known.CommandTools = append(known.CommandTools, n.Name)
			}
			known.NeededInputs[n.Name] = neededInputs(n)
			continue
		}
		list, problem := listedTools(n)
		if problem != "" {
			known.UnlistedServers = append(known.UnlistedServers, n.Name)
		}
		for _, i := range list {
			known.Tools[i.Name] = tool.Info{Name: i.Name, Description: i.Description, Input: i.Input, Output: i.Output}
		}
	}
	return known, nil
}

// workflowInputs returns the inputs of a workflow of the project. If the project has no workflow of that name, it returns the
// names of its workflows.
func (s *Service) workflowInputs(r store.Reader, all []*fermata.Workflow, project, name string) (inputs []definition.Input, names []string, err error) {
	names = []string{}
	for _, w := range all {
		if w.Project != projectOrDefault(project) {
			continue
		}
		if w.Name == name {
			d, err := s.loadPinned(r, name, w.Hash)
			if err != nil {
				return nil, nil, err
			}
			return d.Inputs, nil, nil
		}
		names = append(names, w.Name)
	}
	return nil, names, nil
}

// addChannels adds the names and the kinds of channels that a question may name. It adds nothing if this process knows
// no kinds.
func (s *Service) addChannels(ctx context.Context, workspace string, known *definition.Catalog) error {
	if len(s.ChannelKinds) == 0 {
		return nil
	}
	channels, err := s.db.Reader(ctx, workspace).Channels()
	if err != nil {
		return err
	}
	names := append([]string{posting.Inbox}, s.ChannelKinds...)
	used := map[string]bool{posting.Inbox: true}
	for _, c := range channels {
		names = append(names, c.Name)
		used[c.Kind] = used[c.Kind] || c.Enabled
		used[c.Name] = true
	}
	known.Channels = fermata.SortUnique(names)
	known.UnusedKinds = slices.DeleteFunc(slices.Clone(s.ChannelKinds), func(kind string) bool { return used[kind] })
	return nil
}

// neededInputs returns the inputs that the templates of a tool read as plain references, such as {{ inputs.issue }}.
// The tool cannot be called without them. A longer expression may handle a missing input, so it does not count.
func neededInputs(n *fermata.NamedTool) definition.NeededInputs {
	texts := n.Command
	if n.Agent != nil {
		texts = []string{n.Agent.Prompt}
	}
	var reads definition.NeededInputs
	for _, text := range texts {
		v, err := parseTemplate(text)
		if err != nil {
			continue
		}
		for _, e := range v.Expressions() {
			root, path, _ := strings.Cut(strings.TrimSpace(e.String()), ".")
			field, _, _ := strings.Cut(path, ".")
			if refs := e.Refs(); len(refs) != 1 || refs[0].Root+"."+strings.Join(refs[0].Path, ".") != root+"."+path {
				continue
			}
			switch root {
			case "inputs":
				reads.RunInputs = append(reads.RunInputs, field)
			case "input":
				reads.StepInputs = append(reads.StepInputs, field)
			}
		}
	}
	reads.RunInputs, reads.StepInputs = fermata.SortUnique(reads.RunInputs), fermata.SortUnique(reads.StepInputs)
	return reads
}

// Tools returns all tools that steps may name. The tools of MCP servers are the ones that the servers last listed.
func (s *Service) Tools(ctx context.Context, c fermata.Caller) ([]fermata.ToolInfo, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	named, err := s.readerFor(ctx, c).NamedTools()
	if err != nil {
		return nil, err
	}
	var all []fermata.ToolInfo
	add := func(kind string, infos ...tool.Info) {
		for _, i := range infos {
			all = append(all, fermata.ToolInfo{Name: i.Name, Description: i.Description, Kind: kind, Input: i.Input, Output: i.Output, Idempotent: i.Idempotent})
		}
	}
	add("built_in", builtInTools...)
	for _, t := range s.tools {
		add("built_in", t.Info())
	}
	for _, n := range named {
		switch {
		case n.Agent != nil:
			add("agent", tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema})
		case n.Server == nil:
			add("command", tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema})
		default:
			list, problem := listedTools(n)
			if problem != "" {
				all = append(all, fermata.ToolInfo{Name: n.Name, Description: n.Description, Kind: "server", Error: problem})
			}
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b fermata.ToolInfo) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
