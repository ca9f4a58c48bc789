package workflow

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Tools that the engine of workflows has itself: they stop the run.
const (
	toolQuestion = "post_question"
	toolApproval = "request_approval"
	toolAgent    = "agent"
	toolShell    = "shell"
	toolWait     = "wait"
	toolWorkflow = "workflow"
)

// known is what definitions of a workspace may name.
func (s *Service) known(ctx context.Context, workspace string) (definition.Known, error) {
	named, err := s.db.In(ctx, workspace).NamedTools()
	if err != nil {
		return definition.Known{}, err
	}
	known := definition.Known{Tools: maps.Clone(builtIn)}
	for name, t := range s.tools {
		known.Tools[name] = t.Info()
	}
	for _, n := range named {
		if n.Server == nil {
			known.Tools[n.Name] = tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema}
			known.Delegated = append(known.Delegated, n.Name)
			continue
		}
		list, why := listed(n)
		if why != "" {
			known.Unlisted = append(known.Unlisted, n.Name)
		}
		for _, i := range list {
			known.Tools[i.Name] = tool.Info{Name: i.Name, Description: i.Description, Input: i.Input, Output: i.Output}
		}
	}
	return known, nil
}

// Tools lists everything that steps may name, those of MCP servers as they were
// last listed.
func (s *Service) Tools(ctx context.Context, c fermata.Caller) ([]fermata.ToolInfo, error) {
	if err := c.May(fermata.ToReadWorkflows, fermata.Somewhere); err != nil {
		return nil, err
	}
	named, err := s.reads(ctx, c).NamedTools()
	if err != nil {
		return nil, err
	}
	var all []fermata.ToolInfo
	add := func(kind string, infos ...tool.Info) {
		for _, i := range infos {
			all = append(all, fermata.ToolInfo{Name: i.Name, Description: i.Description, Kind: kind, Input: i.Input, Output: i.Output, Idempotent: i.Idempotent})
		}
	}
	add("built_in", builtIns...)
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
			list, why := listed(n)
			if why != "" {
				all = append(all, fermata.ToolInfo{Name: n.Name, Description: n.Description, Kind: "server", Error: why})
			}
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b fermata.ToolInfo) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
