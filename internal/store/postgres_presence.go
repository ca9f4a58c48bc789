package store

import (
	"context"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
)

// A process holds an advisory lock on the connection on which it listens. PostgreSQL releases the lock as soon as the
// process ends, however it ends. A process that is only slow keeps the lock.

func (b *postgresBackend) processName() string { return b.name }

func (b *postgresBackend) isPresent() bool { return b.present.Load() }

func (b *postgresBackend) presenceSettled() <-chan struct{} { return b.wasPresent }

// takePresenceLock takes this process's lock on a connection; the lock lasts as long as the connection. On a connection to
// a pooler it does nothing, because a pooler would lend the connection to other clients.
func (b *postgresBackend) takePresenceLock(ctx context.Context, conn *pgx.Conn) error {
	if !b.keepsSessions() {
		return nil
	}
	held := false
	err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", b.presenceKey(b.name)).Scan(&held)
	if held && err == nil {
		b.present.Store(true)
		b.markPresent()
	}
	return err
}

func (b *postgresBackend) goneProcesses(ctx context.Context, names []string) ([]string, error) {
	keys := make([]int64, len(names))
	for i, name := range names {
		keys[i] = b.presenceKey(name)
	}
	var found []string
	err := b.runLookups(ctx, scanInto(&found, scanString, unlockedNamesSQL, names, keys))
	return found, err
}

// presenceKey returns the key of a process's lock. Processes of another schema have other keys.
func (b *postgresBackend) presenceKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("fermata " + b.schema + " " + name)) // it never fails
	return int64(h.Sum64())
}
