package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

// errTerminated is the cause of a context that SIGTERM cancelled.
var errTerminated = errors.New("terminated")

// signalContext returns a context that SIGINT or SIGTERM cancels, with the cause.
// A second signal ends the program at once.
func signalContext(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
		case sig := <-signals:
			cause := errTerminated
			if sig == syscall.SIGINT {
				cause = session.ErrInterrupted
			}
			cancel(cause)
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}
