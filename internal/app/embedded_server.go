package app

import (
	"context"
	"errors"
)

// withServer runs a server while use runs. It returns when both have ended.
func withServer(ctx context.Context, o ServeOptions, use func(ctx context.Context, s RunningServer) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ready, ended := make(chan RunningServer, 1), make(chan error, 1)
	o.Ready = func(s RunningServer) { ready <- s }
	go func() { ended <- Serve(ctx, o) }()
	select {
	case err := <-ended:
		return err
	case served := <-ready:
		err := use(ctx, served)
		stop()
		return errors.Join(err, <-ended)
	}
}
