package engine

import (
	"context"
	"time"
)

// ReadShell is the function with which Gate reads command lines.
var ReadShell = readShell

// SetAuditBounds sets how many events a search reads.
func SetAuditBounds(e *Engine, window, maxEvents int64) {
	e.auditBounds = auditBounds{window, maxEvents}
}

// SignEnds signs the checkpoints that are due, and gives them to the witnesses.
func (e *Engine) SignEnds(ctx context.Context) error {
	return newCheckpointer(e).signDueCheckpoints(ctx)
}

// SetRescanInterval sets how often the engine checks for changes without a wake-up. Call it before anything waits.
func SetRescanInterval(e *Engine, interval time.Duration) {
	e.hub.rescanInterval, e.hub.executorRescanInterval = interval, interval
}
