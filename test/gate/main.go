package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// The exit statuses of the command.
const (
	exitGreen          = 0
	exitRed            = 1
	exitInfrastructure = 2
	exitInterrupted    = 130
)

func main() { os.Exit(start(nil)) }

// start runs the gate of the module in the current folder. A test passes a function that changes the gate first.
func start(change func(*gate)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	g, err := newGate(change)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		return exitInfrastructure
	}
	return g.run(ctx)
}

// newGate returns the gate of the module in the current folder.
func newGate(change func(*gate)) (*gate, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the folder for caches: %w", err)
	}
	g := &gate{
		root: root, out: os.Stdout, cache: filepath.Join(cache, "fermata"),
		selection: readSelection(root), flags: strings.Fields(os.Getenv("TEST_FLAGS")), rowFile: os.Getenv("GATE_ROW"),
		minDiskBytes: minDisk, tool: filepath.Join(root, "scripts", "tool"), withPostgres: filepath.Join(root, "scripts", "with-postgres"),
	}
	g.results = filepath.Join(root, "bin", "test")
	g.groups = groups(g)
	if change != nil {
		change(g)
	}
	if err := g.selection.check(root, g.groups); err != nil {
		return nil, err
	}
	return g, nil
}
