package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fermata-hq/fermata"
)

// neededState is what a standby must have before a read may use it: every event that was committed on any replica, and
// every write of this process.
type neededState struct {
	workspace string
	head      fermata.Chain
	// transaction is the last transaction of this process in the workspace, or "" if there was none. Not every
	// transaction has events.
	transaction string
}

// noteTransaction records a transaction that this process committed.
func (db *DB) noteTransaction(workspace, id string) {
	if id != "" {
		db.committedTransactions.Store(workspace, id)
	}
}

// neededFrom returns what a read of the workspace that begins now must see. It asks the primary for the head, because
// other replicas may have committed. So a later read never sees an older head than an earlier read.
func (db *DB) neededFrom(ctx context.Context, workspace string) (neededState, error) {
	needed := neededState{workspace: workspace}
	if id, ok := db.committedTransactions.Load(workspace); ok {
		needed.transaction = id.(string)
	}
	var err error
	needed.head, err = db.Reader(ctx, workspace).Head()
	return needed, err
}

var (
	errBehind       = errors.New("the standby is behind")
	errOtherHistory = errors.New("it has other events than the primary")
)

// checkState returns errBehind if the standby lacks something that is needed. It returns another error if the standby
// must not be used at all.
func checkState(ctx context.Context, conn *pgxpool.Conn, needed neededState) error {
	var inRecovery, hasTransaction bool
	var seq int64
	var hash []byte
	err := conn.QueryRow(ctx, standbyStateSQL, needed.workspace, needed.head.Seq, needed.transaction).
		Scan(&inRecovery, &seq, &hash, &hasTransaction)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errBehind
	case err != nil:
		return err
	case !inRecovery:
		return errPromoted
	case seq < needed.head.Seq, needed.head.Seq == 0:
		// Without events, nothing shows that this is the same database.
		return errBehind
	case hashText(hash) != needed.head.Hash:
		return errOtherHistory
	case !hasTransaction:
		return errBehind
	}
	return nil
}

// read runs look-ups on the standby. It returns false if they must run on the primary: no look-up has got a row then.
func (s *standby) read(ctx context.Context, db *DB, workspace string, lookups []lookup) (done bool, err error) {
	pool, link := s.usablePool()
	if pool == nil {
		s.reads.unavailable.Add(1)
		return false, nil
	}
	needed, err := db.neededFrom(ctx, workspace)
	if err != nil {
		// The read of the primary has the same error.
		return false, nil
	}
	watched, cancel := link.watch(ctx)
	defer cancel()
	conn, err := pool.Acquire(watched)
	if err != nil {
		return s.giveUp(ctx, boundError(watched, err))
	}
	defer conn.Release()
	if err = checkState(watched, conn, needed); err != nil {
		return s.giveUp(ctx, boundError(watched, err))
	}
	collected, err := collectLookups(watched, conn, lookups)
	if err != nil {
		return s.giveUp(ctx, boundError(watched, err))
	}
	s.reads.done.Add(1)
	for i, rows := range collected {
		err = errors.Join(err, lookups[i].scanRows(rows))
	}
	return true, err
}

// giveUp records why the standby did not serve a read. It returns true, and the error, if the caller has left or the
// time is over.
func (s *standby) giveUp(ctx context.Context, cause error) (done bool, err error) {
	switch {
	case ctx.Err() != nil:
		return true, cause
	case errors.Is(cause, errBehind):
		s.reads.behind.Add(1)
	case mustRepeat(cause):
		s.reads.repeated.Add(1)
	default:
		s.reads.unavailable.Add(1)
		s.fail(cause)
	}
	return false, nil
}

// mustRepeat reports whether an error is about one statement, and not about the standby. A standby cancels a statement,
// or ends its connection, if the statement needs rows that the primary has removed.
func mustRepeat(err error) bool {
	if hasCode(err, codeSerializationFailure) || hasCode(err, codeDeadlock) || hasCode(err, codeAdminShutdown) {
		return true
	}
	isState := errors.Is(err, errPromoted) || errors.Is(err, errOtherHistory)
	return !isState && fermata.CodeOf(err) != fermata.CodeUnavailable
}
