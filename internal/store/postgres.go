package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fermata-hq/fermata"
)

// notifyChannel carries hints about commits between replicas.
const notifyChannel = "fermata"

// lockKey is the key of the advisory lock that makes replicas migrate one by one.
const lockKey = 0x6665726d

type postgresBackend struct {
	pool   *pgxpool.Pool
	schema string
	// name is the name of this process among those that share the database. It marks notifications that this process
	// can ignore.
	name string
	// present reports whether this process holds its presence lock.
	present atomic.Bool
	// wasPresent is closed by markPresent, when this process holds its lock for the first time.
	wasPresent  chan struct{}
	markPresent func()
	// replyTimeout is how long a write waits for each reply.
	replyTimeout time.Duration
	// stallLimit is how long a write may stall. The statement limitWrite sets it for a transaction.
	stallLimit time.Duration
	limitWrite statement
	// server ends round trips while PostgreSQL does not answer.
	server *serverLink
	// pooled reports whether a transaction pooler such as pgbouncer is between this process and the server. Then
	// settings of a connection and prepared statements do not last.
	pooled bool
	// transactionID is an expression for the id of a transaction. It is the empty text if nobody needs the id.
	transactionID string
	// direct is the configuration for the direct address of the server, or nil if there is none.
	direct *pgxpool.Config
}

// newProcessName returns a new name for a process.
func newProcessName() string { return strings.ToLower(rand.Text()[:16]) }

// defaultReplyTimeout is how long the server may take for one round trip of a write. Callers wait for their group even
// if their context ends, so a server that hangs or a dead connection must not hold them forever.
const defaultReplyTimeout = time.Minute

// errSilent is the cause that ends a round trip that took too long.
var errSilent = errors.New("the server does not answer")

func openPostgres(ctx context.Context, opts Options) (backend, error) {
	config, pooled, err := parseAddress(ctx, opts.URL)
	if err != nil {
		return nil, err
	}
	// These are the readers, and two more for a writer and other work.
	config.MaxConns = int32(opts.MaxConns) + 2
	if err = configureConnections(config.ConnConfig, pooled, opts); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, unavailable("connect to PostgreSQL", err)
	}
	b := &postgresBackend{
		pool: pool, schema: opts.Schema, name: newProcessName(), replyTimeout: defaultReplyTimeout, stallLimit: opts.StallLimit, limitWrite: limitWrite(opts.StallLimit),
		pooled: pooled, server: newServerLink(config.ConnConfig), wasPresent: make(chan struct{}), transactionID: "''",
	}
	if opts.ReadURL != "" {
		b.transactionID = "pg_current_xact_id()::text"
	}
	b.markPresent = sync.OnceFunc(func() { close(b.wasPresent) })
	err = b.check(ctx)
	if err == nil && opts.DirectURL != "" {
		err = b.useDirect(ctx, opts)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	if !b.keepsSessions() {
		b.markPresent()
	}
	return b, nil
}

// check returns an error if a setting of the server allows it to lose acknowledged writes. It also creates the
// schema.
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
		var e *pgconn.PgError
		if errors.As(err, &e) && e.Code == "23505" {
			// Another replica created it at the same time.
			return nil
		}
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
	ctx, cancel := b.server.watch(ctx)
	defer cancel()
	var ms int64
	err := b.pool.QueryRow(ctx, "SELECT "+postgresDialect.clock).Scan(&ms)
	return time.UnixMilli(ms), boundError(ctx, err)
}

func (b *postgresBackend) close(bool) error {
	b.pool.Close()
	return nil
}

func (b *postgresBackend) runLookups(ctx context.Context, lookups ...lookup) error {
	ctx, cancel := b.server.watch(ctx)
	defer cancel()
	if len(lookups) == 1 {
		rs, err := b.pool.Query(ctx, lookups[0].sql, lookups[0].args...)
		if err != nil {
			return boundError(ctx, err)
		}
		return boundError(ctx, scanLookup(rs, lookups[0]))
	}
	results := b.pool.SendBatch(ctx, newBatch(nil, lookups))
	return boundError(ctx, errors.Join(receiveResults(results, nil, lookups), results.Close()))
}

// newBatch returns the batch of statements and look-ups for one round trip.
func newBatch(before []statement, lookups []lookup) *pgx.Batch {
	batch := &pgx.Batch{}
	for _, st := range before {
		batch.Queue(st.sql, st.args...)
	}
	for _, l := range lookups {
		batch.Queue(l.sql, l.args...)
	}
	return batch
}

// notifyChannelName returns the notification channel. Its name contains the schema, so that two deployments in one database
// do not wake each other.
func (b *postgresBackend) notifyChannelName() string {
	if b.schema == "" {
		return notifyChannel
	}
	return notifyChannel + "_" + b.schema
}

func (b *postgresBackend) notify(ctx context.Context) error {
	ctx, cancel := b.server.watch(ctx)
	defer cancel()
	// A hint need not be durable, so it must not make the writers wait for an extra fsync.
	_, err := b.pool.Exec(ctx, "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)", b.notifyChannelName(), b.name)
	return boundError(ctx, err)
}

func (b *postgresBackend) listen(ctx context.Context, wake func()) error {
	conn, err := pgx.ConnectConfig(ctx, b.sessionConfig())
	if err != nil {
		return postgresError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{b.notifyChannelName()}.Sanitize()); err != nil {
		return postgresError(err)
	}
	if err := b.takePresenceLock(ctx, conn); err != nil {
		return postgresError(err)
	}
	defer b.present.Store(false)
	wake()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return postgresError(err)
		}
		// A program of an earlier version adds the workspace after a space.
		if from, _, _ := strings.Cut(n.Payload, " "); from != b.name {
			wake()
		}
	}
}

// begin locks the counter row first. The transaction that holds this row is the only one on any replica that writes
// into the workspace. So a value that a rule has read stays true until the commit, and shared transactions of two
// replicas cannot deadlock.
//
// The server ends the session of a frozen holder. If the server does not, the first writer whose wait times out ends
// it.
func (b *postgresBackend) begin(ctx context.Context, workspace string, ahead []lookup) (session, counter, error) {
	s, head, err := b.lock(ctx, workspace, ahead)
	if !isLockTimeout(err) {
		return s, head, err
	}
	ended, endErr := b.endFrozenSessions(ctx)
	if endErr != nil || ended == 0 {
		return nil, counter{}, errors.Join(err, endErr)
	}
	return b.lock(ctx, workspace, ahead)
}

// lock begins a transaction and locks the counter row.
func (b *postgresBackend) lock(ctx context.Context, workspace string, ahead []lookup) (session, counter, error) {
	conn, err := b.acquire(ctx)
	if err != nil {
		return nil, counter{}, err
	}
	s := &postgresSession{conn: conn, b: b}
	var heads []counter
	lock := scanInto(&heads, func(rs rows) (counter, error) {
		var ms, needed, server int64
		var transaction string
		chain, err := scanHead(rs, &needed, &ms, &server, &transaction)
		return counter{chain, time.UnixMilli(ms), server, transaction}, errors.Join(err, checkVersion(needed))
	}, "SELECT event_seq, event_hash, min_compatible_version, "+postgresDialect.clock+", "+postgresDialect.serverStart+", "+b.transactionID+
		" FROM workspaces WHERE id = $1"+postgresDialect.lockRow, workspace)
	err = s.run(ctx, []statement{{sql: "BEGIN"}, s.b.limitWrite}, append([]lookup{lock}, ahead...))
	if err == nil && len(heads) == 0 {
		err = fermata.NotFound("workspace", workspace)
	}
	if err != nil {
		s.rollback()
		return nil, counter{}, err
	}
	return s, heads[0], nil
}

func (b *postgresBackend) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := b.boundContext(ctx)
	defer cancel()
	conn, err := b.pool.Acquire(ctx)
	return conn, boundError(ctx, err)
}

// boundError is [postgresError] for a round trip that has a time limit.
func boundError(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return unavailable("PostgreSQL", temporaryTrouble("PostgreSQL does not answer", hintPostgres, errors.Join(errSilent, err)))
	}
	return postgresError(err)
}

// postgresSession is a transaction on one connection of the pool.
type postgresSession struct {
	conn *pgxpool.Conn
	b    *postgresBackend
}

// run sends the statements and the look-ups in one round trip.
func (s *postgresSession) run(ctx context.Context, before []statement, lookups []lookup) error {
	if len(before)+len(lookups) == 0 {
		return nil
	}
	ctx, cancel := s.b.boundContext(ctx)
	defer cancel()
	results := s.conn.SendBatch(ctx, newBatch(before, lookups))
	err := errors.Join(receiveResults(results, before, lookups), results.Close())
	if hasCode(err, codeReadOnly) {
		// Connections that were opened read-only stay read-only. New ones may reach a server that takes writes again.
		s.b.pool.Reset()
	}
	return boundError(ctx, err)
}

func receiveResults(results pgx.BatchResults, before []statement, lookups []lookup) error {
	for _, st := range before {
		tag, err := results.Exec()
		if err == nil && st.one && tag.RowsAffected() != 1 {
			err = conflictError(st)
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, st.sql)
		}
	}
	for _, l := range lookups {
		rs, err := results.Query()
		if err != nil {
			return err
		}
		if err := scanLookup(rs, l); err != nil {
			return err
		}
	}
	return nil
}

// scanLookup passes the rows to the look-up, and closes them.
func scanLookup(rs pgx.Rows, l lookup) error {
	err := l.scanRows(rs)
	rs.Close()
	return errors.Join(err, rs.Err())
}

// guardedSQL returns the text of a statement that fails in the database unless it changes exactly one row. So the
// commit can be sent after it without waiting for its result. An insert of one row needs no guard.
func (st statement) guardedSQL() string {
	if !st.one || strings.HasPrefix(st.sql, "INSERT") {
		return st.sql
	}
	return fmt.Sprintf(postgresDialect.guard, st.sql)
}

// maxStatementsWithCommit is the largest number of statements that are sent together with the commit. Each statement
// needs a guard, which costs the server some time; sending them together saves one round trip.
const maxStatementsWithCommit = 24

// commit sends the remaining statements and commits. Few statements go in one round trip with the commit, which the
// server skips if one of them fails. Many statements take a round trip of their own.
func (s *postgresSession) commit(ctx context.Context, last []statement) error {
	var err error
	if len(last) <= maxStatementsWithCommit {
		guarded := make([]statement, 0, len(last)+1)
		for _, st := range last {
			guarded = append(guarded, statement{sql: st.guardedSQL(), args: st.args})
		}
		err = s.run(ctx, append(guarded, unlimitCommit, statement{sql: "COMMIT"}), nil)
	} else if err = s.run(ctx, append(last, unlimitCommit), nil); err == nil {
		err = s.run(ctx, []statement{{sql: "COMMIT"}}, nil)
	} else if fermata.CodeOf(err) != fermata.CodeUnavailable {
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	if err == nil {
		s.conn.Release()
		return nil
	}
	s.rollback()
	var refused *pgconn.PgError
	if errors.As(err, &refused) || errors.Is(err, errBroken) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return unavailable("commit", err)
}

// rollback returns the connection to the pool. It closes a broken connection first.
func (s *postgresSession) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = s.conn.Conn().Close(ctx)
	}
	s.conn.Release()
}

// postgresError marks the error of a server that cannot be used at the moment as unavailable. It returns other errors
// as they are, except for an invalid text, which is a [fermata.CodeInvalidRequest].
func postgresError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		var refused *pgconn.ConnectError
		if errors.As(err, &refused) || pgconn.SafeToRetry(err) || isConnectionError(err) {
			return unavailable("PostgreSQL", temporaryTrouble("PostgreSQL cannot be reached", hintPostgres, err))
		}
		return err
	}
	if t := postgresTrouble(e); t != nil {
		return unavailable("PostgreSQL", t)
	}
	if e.Code == "22021" || e.Code == "22P05" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "a text contains a NUL character or is not valid UTF-8")
	}
	return err
}

const hintPostgres = "see PostgreSQL's log; Fermata goes on by itself when it is back"

// postgresTrouble returns the trouble of the database that an error shows, or nil if the error is about the statement.
func postgresTrouble(e *pgconn.PgError) *Trouble {
	switch class := e.Code[:min(2, len(e.Code))]; {
	case class == "XX" && e.Code != "XX000":
		return malformedTrouble("PostgreSQL says that its data is corrupted", e)
	case e.Code == codeDiskFull:
		return diskFullTrouble("the disk of PostgreSQL is full", e)
	case e.Code == codeReadOnly:
		return temporaryTrouble("PostgreSQL is read-only: it is a standby, or was set so", "connect to the primary", e)
	case e.Code == codeIdleInTransaction, e.Code == codeLockTimeout:
		return temporaryTrouble("another write, or this one, stood still for too long and was ended", hintPostgres, e)
	case class == "08", class == "53", class == "57", class == "58", class == "40":
		return temporaryTrouble("PostgreSQL cannot be used just now", hintPostgres, e)
	}
	return nil
}

// inspect does nothing: the files belong to the PostgreSQL server.
func (b *postgresBackend) inspect() error { return nil }

// onFault does nothing: every failure has a caller.
func (b *postgresBackend) onFault(func(error)) {}
