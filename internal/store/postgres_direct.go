package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fermata-hq/fermata"
)

// A transaction pooler keeps no session. What needs one uses the direct address, if there is one: waiting for
// notifications, the presence lock, and migrations.

const hintDirect = "set --database-direct to PostgreSQL itself: the server, database and role behind the pooler of --database"

// useDirect makes b use the direct address of the options. It returns an error unless the same database answers there,
// without a pooler.
func (b *postgresBackend) useDirect(ctx context.Context, opts Options) error {
	config, pooled, err := parseAddress(ctx, opts.DirectURL)
	if err != nil {
		return fermata.Errorf(fermata.CodeUnavailable, "PostgreSQL cannot be used at --database-direct: %w", err).WithHint(hintDirect)
	}
	if pooled {
		return fermata.Errorf(fermata.CodeInvalidRequest, "a pooler answers at --database-direct").WithHint(hintDirect)
	}
	setConnection(config.ConnConfig, opts)
	config.MaxConns = int32(opts.MaxConns) + 2
	b.direct = config
	return b.checkDirect(ctx)
}

// checkDirect returns an error unless a lock that is taken at the direct address is seen through the pool. Such a lock
// is seen only in the same database of the same server.
func (b *postgresBackend) checkDirect(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, b.sessionConfig())
	if err != nil {
		return postgresError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	name := newProcessName()
	var directSchema, schema string
	if err = conn.QueryRow(ctx, takeLockSQL, b.presenceKey(name)).Scan(&directSchema, nil); err != nil {
		return postgresError(err)
	}
	unseen, err := b.goneProcesses(ctx, []string{name})
	if err != nil {
		return err
	}
	if len(unseen) > 0 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--database-direct names another database than --database, or a standby").WithHint(hintDirect)
	}
	if err = b.pool.QueryRow(ctx, schemaSQL).Scan(&schema); err != nil {
		return postgresError(err)
	}
	if schema != directSchema {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--database-direct uses the schema %q, and --database uses %q", directSchema, schema).
			WithHint("set the same search_path for both, best with ALTER ROLE … SET search_path")
	}
	return nil
}

// keepsSessions reports whether this process can have a session on the server.
func (b *postgresBackend) keepsSessions() bool { return !b.pooled || b.direct != nil }

// sessionConfig returns the configuration of a connection that is used for longer than a transaction.
func (b *postgresBackend) sessionConfig() *pgx.ConnConfig {
	if b.direct != nil {
		return b.direct.ConnConfig.Copy()
	}
	return b.pool.Config().ConnConfig.Copy()
}

// migrationPool returns the pool for migrations. The caller calls release when it has finished.
func (b *postgresBackend) migrationPool(ctx context.Context) (pool *pgxpool.Pool, release func(), err error) {
	if b.direct == nil {
		return b.pool, func() {}, nil
	}
	pool, err = pgxpool.NewWithConfig(ctx, b.direct.Copy())
	if err != nil {
		return nil, nil, postgresError(err)
	}
	return pool, func() {
		pool.Close()
		// Connections to the pooler may have cached what statements returned before the migration.
		b.pool.Reset()
	}, nil
}
