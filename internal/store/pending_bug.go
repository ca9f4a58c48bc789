//go:build bug_settle_closed

package store

// onlyPending is empty on purpose: the race suite must find this bug.
const onlyPending = ""
