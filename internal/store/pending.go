//go:build !bug_settle_closed

package store

// onlyPending makes the closing of a question conditional: whoever comes second
// changes nothing.
const onlyPending = " AND status = 'pending'"
