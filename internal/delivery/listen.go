package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// listenLease is how long a process may listen without renewing the lease.
	listenLease = 30 * time.Second
	renewEvery  = 10 * time.Second
	// listenAgain is how long to wait after listening broke off.
	listenAgain = 5 * time.Second
)

// listen fetches incoming messages of the channel until ctx ends, while no
// other process does this.
func (l *openChannel) listen(ctx context.Context, listener Listener) {
	log := l.w.s.Log.With("channel", l.info().Name)
	for ctx.Err() == nil {
		mine, err := l.mayListen(ctx)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "take the lease of a channel", "error", err)
		}
		if !mine {
			pause(ctx, renewEvery)
			continue
		}
		if err := l.listenWithLease(ctx, listener); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "listening to a channel broke off", "error", err)
			pause(ctx, listenAgain)
		}
	}
	l.stopListening(ctx)
}

// mayListen takes or renews the lease, and reports whether this process has it.
func (l *openChannel) mayListen(ctx context.Context) (bool, error) {
	mine := false
	err := l.w.s.db.Write(ctx, l.w.id, func(tx *store.Tx) error {
		var err error
		mine, err = tx.ListenAs(l.info().ID, l.w.s.process, tx.Now().Add(listenLease))
		return err
	})
	return mine, err
}

// listenWithLease listens while the lease is renewed.
func (l *openChannel) listenWithLease(ctx context.Context, listener Listener) error {
	listening, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- listener.Listen(listening, l.hear) }()
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		if mine, err := l.mayListen(ctx); err != nil || !mine {
			cancel()
			return errors.Join(err, <-ended)
		}
	}
}

// stopListening gives up the lease, so that another process can listen at once.
func (l *openChannel) stopListening(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenAgain)
	defer cancel()
	err := l.w.s.db.Write(ctx, l.w.id, func(tx *store.Tx) error {
		tx.StopListening(l.info().ID, l.w.s.process)
		return nil
	})
	if err != nil {
		l.w.s.Log.WarnContext(ctx, "give the lease of a channel back", "error", err)
	}
}
