package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A write holds the counter row of its workspace, so every other writer waits for it. These limits end a write whose
// process, machine or network stalls. With the default, the other writers continue within ten seconds.
const (
	// defaultStallLimit is how long the server waits for the next statement of a write ([Options.StallLimit]).
	defaultStallLimit = 5 * time.Second
	// lockMargin is added to the stall limit for the wait for the counter row. It leaves the server time to end an
	// idle holder.
	lockMargin = 2 * time.Second
	// statementMargin is added to the stall limit for each statement of a write except the commit. It exceeds
	// lockMargin, so that a wait for a lock is reported as one.
	statementMargin = 4 * time.Second
)

// SQLSTATE codes of PostgreSQL.
const (
	codeReadOnly          = "25006"
	codeIdleInTransaction = "25P03"
	codeDiskFull          = "53100"
	codeLockTimeout       = "55P03"
	codeProtocolViolation = "08P01"
	codeNotPermitted      = "42501"
	codeAdminShutdown     = "57P01"
	codeDeadlock          = "40P01"

	codeSerializationFailure = "40001"
)

// limitWrite returns the statement that sets the limits for one transaction. So the limits do not apply to
// migrations, exports and audits, and a pooler cannot carry them into a transaction of another program.
func limitWrite(stall time.Duration) statement {
	return statement{sql: fmt.Sprintf(`SELECT set_config('idle_in_transaction_session_timeout', '%d', true),
	set_config('lock_timeout', '%d', true), set_config('statement_timeout', '%d', true)`,
		stall.Milliseconds(), (stall + lockMargin).Milliseconds(), (stall + statementMargin).Milliseconds())}
}

// unlimitCommit removes the time limit of statements. A COMMIT that waits for a synchronous standby must not be cut
// short: PostgreSQL would report success although the standby may not have the data.
var unlimitCommit = statement{sql: "SELECT set_config('statement_timeout', '0', true)"}

// Limits for a TCP connection whose other end is gone. Both the server and this process notice this within deadAfter.
const (
	deadAfter         = 8 * time.Second
	keepaliveIdle     = 4 * time.Second
	keepaliveInterval = 2 * time.Second
	keepaliveCount    = 2
	dialTimeout       = 5 * time.Second
	// connectTimeout limits the whole time to make a connection, if the address sets no connect_timeout.
	connectTimeout = 8 * time.Second
)

// dialer returns the dialer of connections to the server.
func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout:         dialTimeout,
		Control:         setUserTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepaliveIdle, Interval: keepaliveInterval, Count: keepaliveCount},
	}
}

// setConnection sets the parameters that last as long as a connection.
func setConnection(config *pgx.ConnConfig, opts Options) {
	for name, value := range map[string]string{
		// Every query has its index. A plan that was made and kept while a table was small must not read the whole
		// table when it has grown.
		"enable_seqscan": "off",
		// The setting above makes PostgreSQL overestimate the cost of a query without an index. PostgreSQL compiles
		// expensive queries, and here the compilation would take longer than the query.
		"jit":                     "off",
		"tcp_user_timeout":        milliseconds(deadAfter),
		"tcp_keepalives_idle":     seconds(keepaliveIdle),
		"tcp_keepalives_interval": seconds(keepaliveInterval),
		"tcp_keepalives_count":    strconv.Itoa(keepaliveCount),
	} {
		config.RuntimeParams[name] = value
	}
	if opts.Schema != "" {
		config.RuntimeParams["search_path"] = opts.Schema
	}
}

func milliseconds(d time.Duration) string { return strconv.Itoa(int(d.Milliseconds())) }

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// parseAddress returns the configuration of connections to an address, and whether a transaction pooler answers there.
func parseAddress(ctx context.Context, url string) (config *pgxpool.Config, pooled bool, err error) {
	config, err = pgxpool.ParseConfig(url)
	if err != nil {
		return nil, false, fmt.Errorf("the database address cannot be read: %w", err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = "fermata"
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	config.ConnConfig.DialFunc = dialer().DialContext
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	pooled, err = isPooled(ctx, config.ConnConfig)
	return config, pooled, err
}

// configureConnections sets what connections need, with or without a pooler.
func configureConnections(config *pgx.ConnConfig, pooled bool, opts Options) error {
	if pooled {
		return configureForPooler(config, opts)
	}
	setConnection(config, opts)
	return nil
}

// isPooled reports whether a transaction pooler is between this process and the server. It tests this with a setting: a
// pooler refuses or drops settings that it does not know.
func isPooled(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	probe := config.Copy()
	probe.RuntimeParams["enable_seqscan"] = "off"
	probe.DefaultQueryExecMode = pgx.QueryExecModeExec
	ctx, cancel := context.WithTimeout(ctx, defaultReplyTimeout)
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

// configureForPooler omits everything that a transaction pooler cannot keep. Statements are planned at each use, and no
// parameter of a connection is set.
func configureForPooler(config *pgx.ConnConfig, opts Options) error {
	if opts.Schema != "" || config.RuntimeParams["search_path"] != "" {
		return errors.New("the pooler before PostgreSQL cannot keep search_path: set it with ALTER ROLE … SET search_path, or connect to PostgreSQL itself")
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return nil
}

func isLockTimeout(err error) bool { return hasCode(err, codeLockTimeout) }

// isStalled reports whether the server ended a transaction because its client stalled.
func isStalled(err error) bool { return hasCode(err, codeIdleInTransaction) }

func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// endFrozenSessions ends sessions of this role that hold a lock on the counter rows and have waited for their client for
// longer than the stall limit. It returns how many it ended. PostgreSQL itself ends such sessions, except if the
// client was frozen while it sent or received a batch.
func (b *postgresBackend) endFrozenSessions(ctx context.Context) (ended int, err error) {
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
