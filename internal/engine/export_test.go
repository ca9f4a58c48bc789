package engine

import "context"

// ReadShell is what Gate reads command lines with.
var ReadShell = readShell

// SetAuditBounds sets how many events a search looks at.
func SetAuditBounds(e *Engine, window, most int64) { e.auditBounds = auditBounds{window, most} }

// SignEnds signs the ends of all chains that are due, and hands them to the witnesses.
func (e *Engine) SignEnds(ctx context.Context) error { return newCheckpoints(e).look(ctx) }
