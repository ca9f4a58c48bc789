//go:build bug_settle_closed

package store

// pendingCondition is empty on purpose: the race suite must find this bug.
const pendingCondition = ""
