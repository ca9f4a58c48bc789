package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// listenLease is how long a process may listen without renewing the lease.
	listenLease        = 30 * time.Second
	renewLeaseInterval = 10 * time.Second
	// listenRetryDelay is how long to wait after listening broke off.
	listenRetryDelay = 5 * time.Second
)

// listen fetches incoming messages of the channel until ctx ends, while no
// other process does this.
func (l *openChannel) listen(ctx context.Context, listener Listener) {
	log := l.w.s.Log.With("channel", l.info().Name)
	for ctx.Err() == nil {
		isListener, err := l.takeListenLease(ctx)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "take the lease of a channel", "error", err)
		}
		if !isListener {
			sleep(ctx, renewLeaseInterval)
			continue
		}
		if err := l.listenWithLease(ctx, listener); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "listening to a channel broke off", "error", err)
			sleep(ctx, listenRetryDelay)
		}
	}
	l.stopListening(ctx)
}

// takeListenLease takes or renews the lease, and reports whether this process has it.
func (l *openChannel) takeListenLease(ctx context.Context) (bool, error) {
	isListener := false
	err := l.w.s.db.Write(ctx, l.w.id, func(tx *store.Tx) error {
		var err error
		isListener, err = tx.TakeListenLease(l.info().ID, l.w.s.process, tx.Now().Add(listenLease))
		return err
	})
	return isListener, err
}

// listenWithLease listens while the lease is renewed.
func (l *openChannel) listenWithLease(ctx context.Context, listener Listener) error {
	listenCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- listener.Listen(listenCtx, l.handleInbound) }()
	tick := time.NewTicker(renewLeaseInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		if isListener, err := l.takeListenLease(ctx); err != nil || !isListener {
			cancel()
			return errors.Join(err, <-ended)
		}
	}
}

// stopListening gives up the lease, so that another process can listen at once.
func (l *openChannel) stopListening(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenRetryDelay)
	defer cancel()
	err := l.w.s.db.Write(ctx, l.w.id, func(tx *store.Tx) error {
		tx.EndListenLease(l.info().ID, l.w.s.process)
		return nil
	})
	if err != nil {
		l.w.s.Log.WarnContext(ctx, "give the lease of a channel back", "error", err)
	}
}
