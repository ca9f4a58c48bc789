//go:build conformance

// Command everything serves the tools, resources and prompts that the MCP
// conformance suite calls, behind the front that the program's own tools have:
// the same guards, the same choice of the protocol's generation.
//
// The fixtures are those of the protocol's library. scripts/test-mcp-conformance
// lays them into this folder while it builds; they are registerTools,
// registerResources, registerPrompts and what these need.
package main

import (
	"context"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata/test/mcp/front"
)

func main() {
	ctx := context.Background()
	log.Fatal(front.Serve(ctx, os.Args[1], fixtures(ctx)))
}

func fixtures(ctx context.Context) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "everything", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: completionHandler, SubscribeHandler: subscribeHandler, UnsubscribeHandler: unsubscribeHandler,
	})
	registerTools(s)
	registerResources(s)
	registerPrompts(s)
	go watchedResourceUpdater(ctx, s)
	return s
}
