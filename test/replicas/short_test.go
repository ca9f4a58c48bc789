//go:build !lab

package replicas

// restarts is how often a replica is replaced under load.
const restarts = 8

// wakes is how often a replica is woken; how long that takes is for the lab.
const (
	wakes    = 3
	measured = false
)
