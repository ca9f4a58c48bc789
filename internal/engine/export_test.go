package engine

// ReadShell is what Gate reads command lines with.
var ReadShell = readShell

// SetAuditBounds sets how many events a search looks at.
func SetAuditBounds(e *Engine, window, most int64) { e.auditBounds = auditBounds{window, most} }
