package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A write holds the counter row of its workspace, so every other writer waits for it. These limits end a write whose
// process, machine or network stands still. With the default, the others go on within ten seconds.
const (
	// defaultStallLimit is how long the server waits for the next statement of a write ([Options.StallLimit]).
	defaultStallLimit = 5 * time.Second
	// lockMargin is how much longer a write waits for the counter row. It leaves the server time to end an idle holder.
	lockMargin = 2 * time.Second
	// statementMargin is how much longer each statement of a write but the commit may take. It exceeds lockMargin, so
	// that a wait for a lock is known as one.
	statementMargin = 4 * time.Second
)

// SQL states of PostgreSQL.
const (
	codeReadOnly          = "25006"
	codeIdleInTransaction = "25P03"
	codeDiskFull          = "53100"
	codeLockTimeout       = "55P03"
	codeProtocolViolation = "08P01"
)

// limitWrite returns the statement that sets the limits for one transaction: migrations, exports and audits are not
// bound by them, and a pooler cannot carry them into a transaction of another program.
func limitWrite(stall time.Duration) statement {
	return statement{sql: fmt.Sprintf(`SELECT set_config('idle_in_transaction_session_timeout', '%d', true),
	set_config('lock_timeout', '%d', true), set_config('statement_timeout', '%d', true)`,
		stall.Milliseconds(), (stall + lockMargin).Milliseconds(), (stall + statementMargin).Milliseconds())}
}

// unlimitCommit lifts the limit of statements. A COMMIT that waits for a synchronous standby must not be cut short:
// PostgreSQL would report success though the standby may not have it.
var unlimitCommit = statement{sql: "SELECT set_config('statement_timeout', '0', true)"}

// Limits of a TCP connection whose other end is gone: both the server and this process notice within deadAfter.
const (
	deadAfter         = 8 * time.Second
	keepaliveIdle     = 4 * time.Second
	keepaliveInterval = 2 * time.Second
	keepaliveCount    = 2
	dialWithin        = 5 * time.Second
	// connectWithin bounds the whole making of a connection, where the address names no connect_timeout.
	connectWithin = 8 * time.Second
)

// dialer returns the dialer of connections to the server.
func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout:         dialWithin,
		Control:         setUserTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepaliveIdle, Interval: keepaliveInterval, Count: keepaliveCount},
	}
}

// setConnection sets what lasts as long as a connection.
func setConnection(config *pgx.ConnConfig, opts Options) {
	for name, value := range map[string]string{
		// Every query has its index. A plan that was made and kept while a table was
		// small must not read all of it when it has grown.
		"enable_seqscan": "off",
		// The setting above makes PostgreSQL overestimate the cost of a query that has no index. PostgreSQL compiles
		// expensive queries, and compiling takes longer than running this one.
		"jit":                     "off",
		"tcp_user_timeout":        milliseconds(deadAfter),
		"tcp_keepalives_idle":     seconds(keepaliveIdle),
		"tcp_keepalives_interval": seconds(keepaliveInterval),
		"tcp_keepalives_count":    itoa(keepaliveCount),
	} {
		config.RuntimeParams[name] = value
	}
	if opts.Schema != "" {
		config.RuntimeParams["search_path"] = opts.Schema
	}
}

func milliseconds(d time.Duration) string { return itoa(int(d.Milliseconds())) }

func seconds(d time.Duration) string { return itoa(int(d.Seconds())) }

// isPooled reports whether a transaction pooler stands before the server. A pooler refuses settings that it does not
// know, or drops them.
func isPooled(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	probe := config.Copy()
	probe.RuntimeParams["enable_seqscan"] = "off"
	probe.DefaultQueryExecMode = pgx.QueryExecModeExec
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, probe)
	if isRefusedSetting(err) {
		return true, nil
	}
	if err != nil {
		return false, postgresError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var value string
	err = conn.QueryRow(ctx, "SELECT current_setting('enable_seqscan')").Scan(&value)
	return value != "off", postgresError(err)
}

// isRefusedSetting reports whether a pooler refused a setting of the connection.
func isRefusedSetting(err error) bool { return hasCode(err, codeProtocolViolation) }

// forPooler leaves out what a transaction pooler cannot keep: statements are planned at each use, and nothing is set
// for a connection.
func forPooler(config *pgx.ConnConfig, opts Options) error {
	if opts.Schema != "" || config.RuntimeParams["search_path"] != "" {
		return errors.New("the pooler before PostgreSQL cannot keep search_path: set it with ALTER ROLE … SET search_path, or connect to PostgreSQL itself")
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return nil
}

func isLockTimeout(err error) bool { return hasCode(err, codeLockTimeout) }

// isStalled reports whether the server ended a transaction whose client stood still.
func isStalled(err error) bool { return hasCode(err, codeIdleInTransaction) }

func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// endFrozen ends sessions of this role that hold a lock on the counter rows and have waited for their client for
// longer than the stall limit, and returns how many. PostgreSQL itself ends them, but for a client that was frozen
// while it sent a batch or while it received one.
func (b *postgresBackend) endFrozen(ctx context.Context) (ended int, err error) {
	ctx, cancel := b.boundContext(ctx)
	defer cancel()
	tag, err := b.pool.Exec(ctx, `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
		WHERE a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()
		AND a.wait_event_type = 'Client' AND a.xact_start IS NOT NULL
		AND greatest(a.query_start, a.state_change) < clock_timestamp() - $1 * interval '1 millisecond'
		AND EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.granted
			AND l.relation = 'workspaces'::regclass AND l.mode <> 'AccessShareLock')`, b.stallLimit.Milliseconds())
	return int(tag.RowsAffected()), boundError(ctx, err)
}
