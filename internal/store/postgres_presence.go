package store

import (
	"context"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
)

// A process holds an advisory lock on the connection on which it listens. PostgreSQL releases it as soon as the process ends,
// however it ends; a process that is slow keeps it.

func (b *postgresBackend) self() string { return b.name }

func (b *postgresBackend) isSeen() bool { return b.seen.Load() }

func (b *postgresBackend) canBeSeen() <-chan struct{} { return b.wasSeen }

// beSeen holds this process's lock on a connection, for as long as that lasts. A pooler would lend the connection to others.
func (b *postgresBackend) beSeen(ctx context.Context, conn *pgx.Conn) error {
	if b.pooled {
		return nil
	}
	held := false
	err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", b.presenceKey(b.name)).Scan(&held)
	if held && err == nil {
		b.seen.Store(true)
		b.firstSeen()
	}
	return err
}

func (b *postgresBackend) goneProcesses(ctx context.Context, names []string) ([]string, error) {
	keys := make([]int64, len(names))
	for i, name := range names {
		keys[i] = b.presenceKey(name)
	}
	var found []string
	err := b.look(ctx, scanInto(&found, scanString, withoutLock, names, keys))
	return found, err
}

// presenceKey is the key of a process's lock. The processes of another schema have others.
func (b *postgresBackend) presenceKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("fermata " + b.schema + " " + name)) // it never fails
	return int64(h.Sum64())
}
