package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
)

// rawSQLite writes on one connection with the settings of the store.
type rawSQLite struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func openRawSQLite(ctx context.Context, path string) (sink, error) {
	pragmas := "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw"+pragmas)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	return &rawSQLite{conn: conn, stmts: map[string]*sql.Stmt{}}, err
}

func (s *rawSQLite) commit(ctx context.Context, writes []rawWrite) error {
	if _, err := s.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, w := range writes {
		n, err := s.exec(ctx, w.sql, w.args...)
		if err == nil && n != 1 {
			err = fmt.Errorf("%d rows changed: %s", n, w.sql)
		}
		if err != nil {
			_, _ = s.exec(ctx, "ROLLBACK")
			return err
		}
	}
	_, err := s.exec(ctx, "COMMIT")
	return err
}

func (s *rawSQLite) exec(ctx context.Context, text string, args ...any) (int64, error) {
	stmt := s.stmts[text]
	if stmt == nil {
		var err error
		if stmt, err = s.conn.PrepareContext(ctx, text); err != nil {
			return 0, err
		}
		s.stmts[text] = stmt
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
