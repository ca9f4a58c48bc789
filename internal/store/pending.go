//go:build !bug_settle_closed

package store

// onlyPending makes the closing of a question conditional: whoever comes second
// changes nothing. The status stands in an expression, so that PostgreSQL finds
// the row by its id, and not by reading an index of all pending questions.
const onlyPending = " AND status || '' = 'pending'"
