//go:build !lab

package replicas

// restarts is how often a replica is replaced under load.
const restarts = 8

// wakes is how often a replica is woken. measured is false: only the lab checks how long that takes.
const (
	wakes    = 3
	measured = false
)
