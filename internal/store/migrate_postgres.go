package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
)

// migrate holds a lock while it migrates, so that replicas migrate one after the other. If a replica stalls meanwhile,
// it loses the lock, and its migration fails.
func (b *postgresBackend) migrate(ctx context.Context, ring *keys.Ring) error {
	pool, done, err := b.migrationPool(ctx)
	if err != nil {
		return err
	}
	defer done()
	// The lock belongs to a transaction. A pooler may run the next statement outside a transaction on another
	// connection, and the lock of a session would stay on the first one.
	tx, err := pool.Begin(ctx)
	if err != nil {
		return postgresError(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err = tx.Exec(ctx, limitIdle(b.stallLimit)); err != nil {
		return postgresError(err)
	}
	if _, err = tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey); err != nil {
		return postgresError(err)
	}
	migrateCtx, release := b.keepTxAlive(ctx, tx)
	db := sql.OpenDB(limitedConnector{stdlib.GetPoolConnector(pool), limitIdle(b.stallLimit)})
	// The connections stay in the pool.
	db.SetMaxIdleConns(0)
	err = migrateUp(migrateCtx, goose.DialectPostgres, db, ring)
	err = errors.Join(err, release(), db.Close())
	if isStalled(err) {
		return fermata.Errorf(fermata.CodeUnavailable, "the migration stood still for too long, and PostgreSQL ended it: %w", err).
			WithHint("start Fermata again")
	}
	return postgresError(err)
}

// keepTxAlive sends statements in tx until release is called, so that the server does not end tx as idle. The context
// heldCtx ends if the server has ended tx anyway. The caller must not use tx before release returns.
func (b *postgresBackend) keepTxAlive(ctx context.Context, tx pgx.Tx) (heldCtx context.Context, release func() error) {
	heldCtx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		beat := time.NewTicker(b.stallLimit / 5)
		defer beat.Stop()
		for {
			select {
			case <-stop:
				return
			case <-heldCtx.Done():
				return
			case <-beat.C:
			}
			if _, err := tx.Exec(heldCtx, "SELECT 1"); err != nil {
				cancel(fmt.Errorf("keep the lock of the migration: %w", err))
				return
			}
		}
	})
	return heldCtx, func() error {
		close(stop)
		holding.Wait()
		defer cancel(nil)
		return context.Cause(heldCtx)
	}
}

// limitIdle returns the statement that makes the server end the transaction if it receives nothing for the given
// time.
func limitIdle(limit time.Duration) string {
	return fmt.Sprintf("SELECT set_config('idle_in_transaction_session_timeout', '%d', true)", limit.Milliseconds())
}

// limitedConnector opens connections whose transactions all begin with firstStatement.
type limitedConnector struct {
	driver.Connector
	firstStatement string
}

// Connect opens a connection.
func (c limitedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return limitedConn{conn.(*stdlib.Conn), c.firstStatement}, nil
}

type limitedConn struct {
	*stdlib.Conn
	firstStatement string
}

// BeginTx begins a transaction, and runs firstStatement in it.
func (c limitedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	if _, err = c.Conn.Conn().Exec(ctx, c.firstStatement); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}
