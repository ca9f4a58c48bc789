package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fermata-hq/fermata"
)

const (
	// standbyRetryInterval is how long a standby that failed is left alone.
	standbyRetryInterval = 5 * time.Second
	// standbyCheckLimit is how long the check of a standby may take.
	standbyCheckLimit = 10 * time.Second
)

// standby is a PostgreSQL from which long reads may read, if it has everything that they must see. [DB.Watch] checks it;
// until then, and after a failure, long reads use the primary.
type standby struct {
	opts    Options
	primary *postgresBackend
	reads   standbyCounters

	// mu guards what follows. A nil pool means that the standby never answered.
	mu   sync.Mutex
	pool *pgxpool.Pool
	link *serverLink
	// isUsable reports whether reads may try the standby. trouble is why not, or nil if that is not known yet.
	isUsable bool
	trouble  error
	nextTry  time.Time
}

// StandbyReads counts the long reads of a process with a standby, by what became of them.
type StandbyReads struct {
	// Done is the number of reads that the standby served. The others read the primary: because the standby was behind,
	// because it cancelled the read, or because it could not be used.
	Done, Behind, Repeated, Unavailable int64
}

type standbyCounters struct{ done, behind, repeated, unavailable atomic.Int64 }

// StandbyReads returns the numbers of long reads so far. They are 0 without a standby.
func (db *DB) StandbyReads() StandbyReads {
	if db.standby == nil {
		return StandbyReads{}
	}
	c := &db.standby.reads
	return StandbyReads{Done: c.done.Load(), Behind: c.behind.Load(), Repeated: c.repeated.Load(), Unavailable: c.unavailable.Load()}
}

// newStandby returns the standby of the options, or nil if they name none. It does not connect.
func newStandby(b backend, opts Options) (*standby, error) {
	if opts.ReadURL == "" {
		return nil, nil //nolint:nilnil // nil is a database without a standby
	}
	primary, isPostgres := b.(*postgresBackend)
	if !isPostgres {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "SQLite has no standby to read from").WithHint("leave --database-read out")
	}
	if _, err := pgxpool.ParseConfig(opts.ReadURL); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the address of --database-read cannot be read: %w", err).
			WithHint("write it like postgres://fermata@standby/fermata")
	}
	return &standby{opts: opts, primary: primary}, nil
}

// examine checks a standby that is not in use, when a check is due.
func (s *standby) examine(ctx context.Context) {
	if !s.isCheckDue() {
		return
	}
	primaryCtx, cancel := context.WithTimeout(ctx, standbyCheckLimit)
	defer cancel()
	primary, err := readIdentity(primaryCtx, s.primary.pool)
	if err != nil {
		// This is a trouble of the primary.
		return
	}
	ctx, cancelCheck := context.WithTimeout(ctx, standbyCheckLimit)
	defer cancelCheck()
	err = s.check(ctx, primary)
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	s.resume()
}

func (s *standby) isCheckDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.isUsable && !time.Now().Before(s.nextTry)
}

// errPromoted is the failure of a server that is no standby, or no more.
var errPromoted = errors.New("it is not a standby")

// check returns an error unless the address leads to a standby of the database with this identity.
func (s *standby) check(ctx context.Context, primary databaseIdentity) error {
	pool, err := s.connect(ctx)
	if err != nil {
		return err
	}
	found, err := readIdentity(ctx, pool)
	if err != nil {
		return err
	}
	if err = found.checkSame(primary); err != nil {
		return err
	}
	var inRecovery bool
	err = pool.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&inRecovery)
	if err == nil && !inRecovery {
		err = errPromoted
	}
	return err
}

// connect returns the pool of connections to the standby, without connections from before a failure.
func (s *standby) connect(ctx context.Context) (*pgxpool.Pool, error) {
	s.mu.Lock()
	pool := s.pool
	s.mu.Unlock()
	if pool != nil {
		pool.Reset()
		return pool, nil
	}
	config, pooled, err := parseAddress(ctx, s.opts.ReadURL)
	if err == nil {
		err = configureConnections(config.ConnConfig, pooled, s.opts)
	}
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(maxLongReads(s.opts))
	if pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pool, s.link = pool, newServerLink(config.ConnConfig)
	return pool, nil
}

// usablePool returns the pool and the link of a standby that reads may try, or nil.
func (s *standby) usablePool() (*pgxpool.Pool, *serverLink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isUsable {
		return nil, nil
	}
	return s.pool, s.link
}

// fail stops the use of the standby until a later check succeeds. It logs the beginning of a trouble.
func (s *standby) fail(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trouble == nil {
		s.log().Warn("the standby cannot be used, so long reads use the primary", "error", cause,
			"hint", "see whether PostgreSQL answers at --database-read, as a standby of the same database; Fermata uses it again by itself")
	}
	s.isUsable, s.trouble, s.nextTry = false, cause, time.Now().Add(standbyRetryInterval)
}

// resume starts the use of the standby. It logs the end of a trouble.
func (s *standby) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trouble != nil {
		s.log().Info("the standby is used again for long reads")
	}
	s.isUsable, s.trouble = true, nil
}

func (s *standby) log() *slog.Logger { return s.opts.Log }

// close closes the connections.
func (s *standby) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	pool := s.pool
	s.isUsable = false
	s.mu.Unlock()
	if pool != nil {
		pool.Close()
	}
}
