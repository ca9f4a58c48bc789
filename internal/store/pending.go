//go:build !bug_settle_closed

package store

// onlyPending makes the closing of a question conditional: the second of two
// closings changes nothing. The expression on status makes PostgreSQL find the
// row by its id, instead of reading an index of all pending questions.
const onlyPending = " AND status || '' = 'pending'"
