// Package front serves the tools of an MCP server behind the same front as Fermata's own tools. The front identifies the
// caller, checks the request and chooses the protocol version.
package front

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/mcpserver"
	"github.com/fermata-hq/fermata/internal/store"
)

// Serve serves the tools on a free port until it fails, with a database in the folder. It prints the address.
func Serve(ctx context.Context, folder string, tools *mcp.Server) error {
	db, err := store.Open(ctx, store.Options{URL: filepath.Join(folder, "fermata.db"), Keys: keys.New()})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it is thrown away
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	e := engine.New(db, engine.Options{})
	server := api.New(api.Config{Engine: e, Version: "test", SingleUser: true})
	server.Mount(api.Mount{Path: mcpserver.Path, Challenge: mcpserver.Challenge(""), Handler: mcpserver.FrontHandler(mcpserver.HTTPOptions{
		Engine: e, Caller: api.CallerOf, Stopping: server.Draining(), MaxBody: api.DefaultMaxBody,
	}, tools)})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", listener.Addr(), mcpserver.Path)
	return (&http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}).Serve(listener)
}
