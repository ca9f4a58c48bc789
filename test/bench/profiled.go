package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"syscall"

	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/internal/config"
)

// profiledCommand starts the server inside this program, with a CPU profile.
const profiledCommand = "profiled-server"

// profiledServer serves until it is terminated, and writes a profile of its whole life. Its arguments are the folder of
// profiles, the kind, the data folder, the URL of the database and the key file.
func profiledServer(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("%s takes 5 arguments", profiledCommand)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	f, err := os.Create(filepath.Join(args[0], args[1]+".pprof")) //nolint:gosec // the bench names its own file
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	err = app.Serve(ctx, app.ServeOptions{
		Server:  config.Server{Listen: "127.0.0.1:0", Storage: config.Storage{Data: args[2], Database: args[3], MasterKeyFile: args[4]}},
		Version: "bench", Log: slog.New(slog.DiscardHandler), Out: os.Stderr,
	})
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}
