package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A network can stop carrying bytes while a proxy or a firewall keeps its connections. The kernel still gets its
// acknowledgements, and notices nothing. So when a reply is late, this process pings PostgreSQL on a separate
// connection. If the ping is not answered either, the reply will not come, and all waiting callers get an error within
// ten seconds. If it is answered, the statement is only slow, and the callers wait for it.
const (
	// lateAfter is the time after which a reply is late; pingTimeout is how long the ping on the separate connection
	// may take.
	lateAfter   = 4 * time.Second
	pingTimeout = 4 * time.Second
	// pingInterval is how long the result of a ping is valid.
	pingInterval = time.Second
)

// serverLink tracks whether PostgreSQL answers.
type serverLink struct {
	// ping connects and runs an empty statement, because a pooler may accept the connection by itself.
	ping func(ctx context.Context) error

	// dead reports whether the last ping was not answered.
	dead atomic.Bool
	// mu lets one caller ping at a time; lastPing is when the last ping ended.
	mu       sync.Mutex
	lastPing time.Time
}

// newServerLink returns a link that pings over connections with this configuration.
func newServerLink(config *pgx.ConnConfig) *serverLink {
	return &serverLink{ping: func(ctx context.Context) error {
		conn, err := pgx.ConnectConfig(ctx, config.Copy())
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		return conn.Ping(ctx)
	}}
}

// watch returns a context for one round trip. It ends with errSilent if the reply is late and PostgreSQL does not
// answer. The caller cancels it when the reply has arrived.
func (l *serverLink) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if l.dead.Load() && l.isDead(ctx) {
		cancel(errSilent)
	}
	timer := time.AfterFunc(lateAfter, func() { l.cancelWhenDead(ctx, cancel) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// cancelWhenDead ends the round trip as soon as PostgreSQL does not answer a ping.
func (l *serverLink) cancelWhenDead(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(pingInterval)
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

// isDead reports whether PostgreSQL does not answer. An error from PostgreSQL is an answer. Other callers use the
// result, too, so the ping continues when ctx ends.
func (l *serverLink) isDead(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.lastPing) < pingInterval {
		return l.dead.Load()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	err := l.ping(ctx)
	l.dead.Store(err != nil && ctx.Err() != nil)
	l.lastPing = time.Now()
	return l.dead.Load()
}

// boundContext returns the context for one round trip of a write. The replyTimeout of b limits it as well.
func (b *postgresBackend) boundContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithTimeoutCause(ctx, b.replyTimeout, errSilent)
	ctx, end := b.server.watch(ctx)
	return ctx, func() {
		end()
		stop()
	}
}
