package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// mostPrepared is how many statements a connection pool of SQLite keeps ready.
// Lists have as many texts as callers combine filters.
const mostPrepared = 1000

// preparedCache keeps statements that were used ready. What comes when there are
// enough is prepared for one use.
type preparedCache struct {
	mu  sync.RWMutex
	all map[string]*sql.Stmt
}

// preparer is a connection, or a pool of them.
type preparer interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
}

// use hands the statement of a text to fn.
func (p *preparedCache) use(ctx context.Context, on preparer, text string, fn func(*sql.Stmt) error) (err error) {
	p.mu.RLock()
	stmt := p.all[text]
	p.mu.RUnlock()
	if stmt != nil {
		return fn(stmt)
	}
	if stmt, err = on.PrepareContext(ctx, text); err != nil {
		return err
	}
	if p.keep(text, stmt) {
		return fn(stmt)
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	return fn(stmt)
}

// keep reports whether it took the statement.
func (p *preparedCache) keep(text string, stmt *sql.Stmt) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[text] != nil || len(p.all) >= mostPrepared {
		return false
	}
	if p.all == nil {
		p.all = map[string]*sql.Stmt{}
	}
	p.all[text] = stmt
	return true
}

// forget drops all of them: their connection is closed.
func (p *preparedCache) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = nil
}
