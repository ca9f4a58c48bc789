//go:build lab

package replicas

// restarts is how often a replica is replaced under load.
const restarts = 50

// wakes is how often a replica is woken. measured is true: the tests check how long that takes.
const (
	wakes    = 20
	measured = true
)
