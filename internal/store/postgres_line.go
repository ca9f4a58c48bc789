package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A network can stop to carry bytes while a proxy or a firewall keeps its connections: the kernel gets its
// acknowledgements and notices nothing. So a reply that is late makes this process ask PostgreSQL on a connection of
// its own. Where that is not answered either, the reply will not come, and all who wait are told within ten seconds.
// A slow statement is waited for.
const (
	// lateAfter is after how long a reply is late, pingWithin how long the other connection may take.
	lateAfter  = 4 * time.Second
	pingWithin = 4 * time.Second
	// pingEvery is how long the result of asking holds.
	pingEvery = time.Second
)

// line knows whether PostgreSQL answers.
type line struct {
	// ping connects and runs an empty statement: a pooler may answer the connecting by itself.
	ping func(ctx context.Context) error

	// dead reports that the last ping was not answered.
	dead atomic.Bool
	// mu lets one caller ask at a time; pinged is when the last one ended.
	mu     sync.Mutex
	pinged time.Time
}

// newLine returns the line over which connections with the configuration are made.
func newLine(config *pgx.ConnConfig) *line {
	return &line{ping: func(ctx context.Context) error {
		conn, err := pgx.ConnectConfig(ctx, config.Copy())
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		return conn.Ping(ctx)
	}}
}

// watch returns a context for one round trip. It ends with errSilent when the reply is late and PostgreSQL does not
// answer. The caller ends it when the reply is there.
func (l *line) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if l.dead.Load() && l.isDead(ctx) {
		cancel(errSilent)
	}
	timer := time.AfterFunc(lateAfter, func() { l.await(ctx, cancel) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// await ends the round trip as soon as PostgreSQL does not answer.
func (l *line) await(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if l.isDead(ctx) {
			cancel(errSilent)
			return
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// isDead reports whether PostgreSQL does not answer. A refusal is an answer. The result holds for others, too, so the
// end of ctx does not end the asking.
func (l *line) isDead(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.pinged) < pingEvery {
		return l.dead.Load()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingWithin)
	defer cancel()
	err := l.ping(ctx)
	l.dead.Store(err != nil && ctx.Err() != nil)
	l.pinged = time.Now()
	return l.dead.Load()
}

// boundContext returns the context of one round trip of a write: it is bound by the patience, too.
func (b *postgresBackend) boundContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithTimeoutCause(ctx, b.patience, errSilent)
	ctx, end := b.line.watch(ctx)
	return ctx, func() {
		end()
		stop()
	}
}
