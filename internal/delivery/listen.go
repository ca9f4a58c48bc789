package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata/internal/engine"
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
func (ch *openChannel) listen(ctx context.Context, listener Listener) {
	log := ch.w.s.Log.With("channel", ch.info().Name)
	for ctx.Err() == nil {
		isListener, err := ch.takeListenLease(ctx)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "take the lease of a channel", "error", err)
		}
		if !isListener {
			engine.Sleep(ctx, renewLeaseInterval)
			continue
		}
		if err := ch.listenWithLease(ctx, listener); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "listening to a channel broke off", "error", err)
			engine.Sleep(ctx, listenRetryDelay)
		}
	}
	ch.stopListening(ctx)
}

// takeListenLease takes or renews the lease, and reports whether this process has it.
func (ch *openChannel) takeListenLease(ctx context.Context) (bool, error) {
	isListener := false
	err := ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		var err error
		isListener, err = tx.TakeListenLease(ch.info().ID, ch.w.s.process, tx.Now().Add(listenLease))
		return err
	})
	return isListener, err
}

// listenWithLease listens while the lease is renewed.
func (ch *openChannel) listenWithLease(ctx context.Context, listener Listener) error {
	listenCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- listener.Listen(listenCtx, ch.handleInbound) }()
	tick := time.NewTicker(renewLeaseInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		if isListener, err := ch.takeListenLease(ctx); err != nil || !isListener {
			cancel()
			return errors.Join(err, <-ended)
		}
	}
}

// stopListening gives up the lease, so that another process can listen at once.
func (ch *openChannel) stopListening(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenRetryDelay)
	defer cancel()
	err := ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		tx.EndListenLease(ch.info().ID, ch.w.s.process)
		return nil
	})
	if err != nil {
		ch.w.s.Log.WarnContext(ctx, "give the lease of a channel back", "error", err)
	}
}
