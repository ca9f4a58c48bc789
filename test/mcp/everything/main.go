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
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/mcpserver"
	"github.com/fermata-hq/fermata/internal/store"
)

func main() {
	ctx := context.Background()
	folder := os.Args[1]
	db, err := store.Open(ctx, store.Options{URL: filepath.Join(folder, "fermata.db"), Keys: keys.New()})
	must(err)
	must(db.Migrate(ctx))
	e := engine.New(db, engine.Options{})
	server := api.New(api.Config{Engine: e, Version: "test", SingleUser: true})
	server.Mount(api.Mount{Path: mcpserver.Path, Challenge: mcpserver.Challenge, Handler: mcpserver.Front(mcpserver.HTTPOptions{
		Engine: e, Caller: api.CallerOf, Stopping: server.Draining(), MaxBody: api.DefaultMaxBody,
	}, fixtures(ctx))})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	must(err)
	fmt.Printf("http://%s%s\n", listener.Addr(), mcpserver.Path)
	must((&http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}).Serve(listener))
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

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
