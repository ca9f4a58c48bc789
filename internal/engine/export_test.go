package engine

import (
	"context"
	"time"
)

// ReadShell is the function with which Gate reads command lines.
var ReadShell = readShell

// SetAuditBounds sets how many events a search reads.
func SetAuditBounds(e *Engine, window, most int64) { e.auditBounds = auditBounds{window, most} }

// SignEnds signs the ends of all chains that are due, and gives them to the witnesses.
func (e *Engine) SignEnds(ctx context.Context) error { return newCheckpoints(e).look(ctx) }

// SetLook sets how often the engine looks without a wake-up. Call it before anything waits.
func SetLook(e *Engine, every time.Duration) { e.hub.look, e.hub.executorLook = every, every }
