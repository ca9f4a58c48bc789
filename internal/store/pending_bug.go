//go:build bug_settle_closed

package store

// onlyPending is left out on purpose: the race suite must find this.
const onlyPending = ""
