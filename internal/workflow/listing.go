package workflow

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
)

const (
	// listTimeout is the time limit for a server to list its tools.
	listTimeout = 5 * time.Second
	// maxListingSize limits the size of a stored list, in bytes.
	maxListingSize = 1 << 20
)

// RefreshTools asks an MCP server for its tools and stores the list. Asking may
// start a program. Reading a tool never asks its server.
func (s *Service) RefreshTools(ctx context.Context, c fermata.Caller, name string) (*fermata.NamedTool, error) {
	if err := c.CheckPermission(fermata.ToDefineTools, fermata.InWorkspace); err != nil {
		return nil, err
	}
	n, err := s.readerFor(ctx, c).NamedTool(name)
	if err != nil {
		return nil, err
	}
	if n.Server == nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s is no MCP server: it has no tools of its own", name)
	}
	list, listErr := s.serverTools(ctx, n)
	return engine.Write(ctx, s.e, c, fermata.ToDefineTools, func(tx *store.Tx) (*fermata.NamedTool, error) {
		return storeListing(tx, c, n, list, listErr)
	})
}

// askServers asks the MCP servers among the given tools for their tools, in
// parallel, and stores the lists. It replaces these entries of tools by the
// stored versions. If a server is down, its list holds the error, and
// askServers returns none.
func (s *Service) askServers(ctx context.Context, c fermata.Caller, tools []*fermata.NamedTool) error {
	var asking sync.WaitGroup
	problems := make([]error, len(tools))
	for i := range tools {
		if tools[i].Server == nil {
			continue
		}
		asking.Go(func() {
			n, err := s.readerFor(ctx, c).NamedTool(tools[i].Name)
			if err != nil || n.Server == nil {
				problems[i] = err
				return
			}
			list, listErr := s.serverTools(ctx, n)
			problems[i] = s.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
				updatedTool, err := storeListing(tx, c, n, list, listErr)
				if err == nil {
					tools[i] = updatedTool
				}
				return err
			})
		})
	}
	asking.Wait()
	for _, err := range problems {
		// A server that was removed meanwhile needs no list.
		if err != nil && fermata.CodeOf(err) != fermata.CodeNotFound {
			return err
		}
	}
	return nil
}

// storeListing stores the list of a server, unless the settings of the server
// have changed since it was asked.
func storeListing(tx *store.Tx, c fermata.Caller, requestedTool *fermata.NamedTool, list []tool.Info, listErr error) (*fermata.NamedTool, error) {
	n, err := tx.NamedTool(requestedTool.Name)
	if err != nil {
		return nil, err
	}
	result := *n
	result.Server = hideSecrets(n.Server)
	if !reflect.DeepEqual(n.Server, requestedTool.Server) {
		return &result, nil
	}
	listing := &fermata.ToolListing{At: tx.Now(), Tools: []fermata.ToolInfo{}}
	for _, i := range list {
		listing.Tools = append(listing.Tools, fermata.ToolInfo{Name: i.Name, Description: i.Description, Kind: "server", Input: i.Input, Output: i.Output, Idempotent: i.Idempotent})
	}
	switch {
	case listErr != nil:
		listing.Error = listErr.Error()
	case len(encodeJSON(listing)) > maxListingSize:
		listing.Error = "the server says more of its tools than fits"
	}
	if listing.Error != "" {
		listing.Tools = []fermata.ToolInfo{}
		if n.Listing != nil {
			listing.Tools = n.Listing.Tools
		}
	}
	n.Listing = listing
	tx.SaveNamedTool(n)
	tx.Append(&fermata.Event{Type: fermata.EventToolChanged, Actor: c.Actor(), Data: encodeJSON(map[string]any{"tool": n.Name, "listed": len(listing.Tools)})})
	result.Listing = listing
	return &result, nil
}

func (s *Service) serverTools(ctx context.Context, n *fermata.NamedTool) ([]tool.Info, error) {
	if s.Servers == nil {
		return nil, fermata.Errorf(fermata.CodeUnavailable, "this server calls no MCP servers")
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return s.Servers.Tools(ctx, n.Name, *n.Server)
}

// listedTools returns the tools that a server last listed. problem says why
// the last listing failed, or that there was none.
func listedTools(n *fermata.NamedTool) (tools []fermata.ToolInfo, problem string) {
	if n.Listing == nil {
		return nil, "nobody has asked it yet: fermata workflow tools refresh " + n.Name
	}
	return n.Listing.Tools, n.Listing.Error
}
