//go:build conformance

// Command everything serves the tools, resources and prompts that the MCP
// conformance suite calls. It uses the same front as Fermata's own tools, which
// identifies the caller, checks the request and chooses the protocol version.
//
// The fixtures are those of the protocol's library. scripts/test-mcp-conformance
// adds them to this folder with go build -overlay; they are registerTools,
// registerResources, registerPrompts and their helpers.
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
