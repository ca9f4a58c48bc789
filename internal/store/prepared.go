package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// maxPrepared is how many prepared statements a connection pool of SQLite
// keeps. The texts of lists differ with every combination of filters.
const maxPrepared = 1000

// preparedCache keeps the first prepared statements of a pool, up to maxPrepared. Any further statement is prepared for one use.
type preparedCache struct {
	mu  sync.RWMutex
	all map[string]*sql.Stmt
}

// preparer is a connection, or a pool of connections.
type preparer interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
}

// withStmt calls fn with the prepared statement of a text.
func (p *preparedCache) withStmt(ctx context.Context, on preparer, text string, fn func(*sql.Stmt) error) (err error) {
	p.mu.RLock()
	stmt := p.all[text]
	p.mu.RUnlock()
	if stmt != nil {
		return fn(stmt)
	}
	if stmt, err = on.PrepareContext(ctx, text); err != nil {
		return err
	}
	if p.add(text, stmt) {
		return fn(stmt)
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	return fn(stmt)
}

// add stores the statement, and reports whether it did.
func (p *preparedCache) add(text string, stmt *sql.Stmt) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[text] != nil || len(p.all) >= maxPrepared {
		return false
	}
	if p.all == nil {
		p.all = map[string]*sql.Stmt{}
	}
	p.all[text] = stmt
	return true
}
