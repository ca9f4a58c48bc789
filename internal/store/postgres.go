package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fermata-hq/fermata"
)

// notifyChannel carries hints of commits between replicas.
const notifyChannel = "fermata"

// lockKey is the advisory lock under which replicas migrate one by one.
const lockKey = 0x6665726d

type postgresBackend struct {
	pool   *pgxpool.Pool
	schema string
}

func openPostgres(ctx context.Context, opts Options) (backend, error) {
	config, err := pgxpool.ParseConfig(opts.URL)
	if err != nil {
		return nil, fmt.Errorf("the database address cannot be read: %w", err)
	}
	// Readers, and one writer more.
	config.MaxConns = int32(opts.MaxConns) + 2
	config.ConnConfig.RuntimeParams["application_name"] = "fermata"
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	if opts.Schema != "" {
		config.ConnConfig.RuntimeParams["search_path"] = opts.Schema
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, unavailable("connect to PostgreSQL", err)
	}
	b := &postgresBackend{pool: pool, schema: opts.Schema}
	if err := b.check(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return b, nil
}

// check refuses a server that acknowledges what it may lose.
func (b *postgresBackend) check(ctx context.Context) error {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := b.pool.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return postgresError(err)
		}
		if err := checkSetting(setting, value); err != nil {
			return err
		}
	}
	if b.schema != "" {
		_, err := b.pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{b.schema}.Sanitize())
		return postgresError(err)
	}
	return nil
}

func checkSetting(setting, value string) error {
	if value == "off" {
		return fmt.Errorf("PostgreSQL: %s is off, so an acknowledged answer could be lost; switch it on", setting)
	}
	return nil
}

func (b *postgresBackend) dialect() *dialect { return &postgresDialect }

func (b *postgresBackend) now(ctx context.Context) (time.Time, error) {
	var ms int64
	err := b.pool.QueryRow(ctx, "SELECT "+postgresDialect.clock).Scan(&ms)
	return time.UnixMilli(ms), postgresError(err)
}

func (b *postgresBackend) close() error {
	b.pool.Close()
	return nil
}

func (b *postgresBackend) query(ctx context.Context, text string, args []any) (rows, error) {
	r, err := b.pool.Query(ctx, text, args...)
	if err != nil {
		return nil, postgresError(err)
	}
	return poolRows{r}, nil
}

// poolRows tell what an error that shows only while they are read means.
type poolRows struct{ pgx.Rows }

func (r poolRows) Err() error { return postgresError(r.Rows.Err()) }

// channelFor names the schema in the channel, so that two deployments in one
// database do not wake each other.
func (b *postgresBackend) channelFor() string {
	if b.schema == "" {
		return notifyChannel
	}
	return notifyChannel + "_" + b.schema
}

func (b *postgresBackend) notify(ctx context.Context, workspace string) error {
	_, err := b.pool.Exec(ctx, "SELECT pg_notify($1, $2)", b.channelFor(), workspace)
	return postgresError(err)
}

func (b *postgresBackend) listen(ctx context.Context, wake func(string)) error {
	conn, err := pgx.ConnectConfig(ctx, b.pool.Config().ConnConfig.Copy())
	if err != nil {
		return postgresError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{b.channelFor()}.Sanitize()); err != nil {
		return postgresError(err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return postgresError(err)
		}
		wake(n.Payload)
	}
}

// begin locks the counter row first. Whoever holds it is the only one who
// writes into the workspace, on whatever replica: what a rule read stays true
// until the commit, and shared transactions of two replicas cannot deadlock.
func (b *postgresBackend) begin(ctx context.Context, workspace string) (session, counter, error) {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return nil, counter{}, postgresError(err)
	}
	s := &postgresSession{conn: conn}
	var head counter
	var ms int64
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	batch.Queue("SELECT event_seq, event_hash, "+postgresDialect.clock+" FROM workspaces WHERE id = $1 FOR UPDATE", workspace)
	results := conn.SendBatch(ctx, batch)
	_, err = results.Exec()
	if err == nil {
		err = results.QueryRow().Scan(&head.seq, &head.hash, &ms)
	}
	if err = errors.Join(err, results.Close()); err != nil {
		s.rollback()
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, counter{}, fermata.NotFound("workspace", workspace)
		}
		return nil, counter{}, postgresError(err)
	}
	head.now = time.UnixMilli(ms)
	return s, head, nil
}

// postgresSession is a transaction on one connection of the pool.
type postgresSession struct{ conn *pgxpool.Conn }

// run sends the statements and the query in one round trip.
func (s *postgresSession) run(ctx context.Context, before []statement, text string, args []any) (rows, error) {
	if len(before) == 0 && text != "" {
		r, err := s.conn.Query(ctx, text, args...)
		if err != nil {
			return nil, postgresError(err)
		}
		return poolRows{r}, nil
	}
	batch := &pgx.Batch{}
	for _, st := range before {
		batch.Queue(st.sql, st.args...)
	}
	if text != "" {
		batch.Queue(text, args...)
	}
	results := s.conn.SendBatch(ctx, batch)
	for _, st := range before {
		tag, err := results.Exec()
		if err == nil && st.want >= 0 && tag.RowsAffected() != st.want {
			err = conflict(st, tag.RowsAffected())
		}
		if err != nil {
			return nil, postgresError(errors.Join(err, results.Close()))
		}
	}
	if text == "" {
		return nil, postgresError(results.Close())
	}
	r, err := results.Query()
	if err != nil {
		return nil, postgresError(errors.Join(err, results.Close()))
	}
	return &batchRows{Rows: r, results: results}, nil
}

func (s *postgresSession) commit(ctx context.Context) error {
	tag, err := s.conn.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		// The server acknowledges the commit of a failed transaction with this.
		err = fmt.Errorf("the server answered %s", tag)
	}
	if err == nil {
		s.conn.Release()
	}
	return postgresError(err)
}

// rollback gives the connection back; one that is broken is closed by the pool.
func (s *postgresSession) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = s.conn.Conn().Close(ctx)
	}
	s.conn.Release()
}

// batchRows are the last results of a pipeline; closing them ends it.
type batchRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

func (r *batchRows) Close() {
	r.Rows.Close()
	r.err = errors.Join(r.err, r.results.Close())
}

func (r *batchRows) Err() error { return postgresError(errors.Join(r.Rows.Err(), r.err)) }

// postgresError tells a server that cannot be used just now from a refusal.
func postgresError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		var refused *pgconn.ConnectError
		if errors.As(err, &refused) || pgconn.SafeToRetry(err) || isConnectionError(err) {
			return unavailable("PostgreSQL", err)
		}
		return err
	}
	switch {
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "53"), strings.HasPrefix(e.Code, "57"),
		strings.HasPrefix(e.Code, "58"), strings.HasPrefix(e.Code, "40"), e.Code == "25006":
		return unavailable("PostgreSQL", err)
	}
	if e.Code == "22021" || e.Code == "22P05" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "a text contains a NUL character or is not valid UTF-8: %w", err)
	}
	return err
}
