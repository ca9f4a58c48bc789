// Command fermata lets agents ask people: server, worker and command line in
// one program.
package main

import (
	"context"
	"os"

	"github.com/fermata-hq/fermata/internal/cli"
	"github.com/fermata-hq/fermata/internal/demoagent"
	"github.com/fermata-hq/fermata/internal/process"
)

// version is the version of a release. The build sets it.
var version string

func main() {
	if len(os.Args) == 2 && os.Args[1] == "demo-agent" {
		os.Exit(demoagent.Main(os.Stdin, os.Stdout, os.Getenv))
	}
	if process.IsWatchdog(os.Args) {
		process.RunWatchdog(os.Args, os.Stdin)
		return
	}
	process.EnableWatchdog()
	os.Exit(run())
}

func run() int {
	ctx, stop := signalContext(context.Background())
	defer stop()
	return cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, hooks())
}
