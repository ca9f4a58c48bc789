//go:build lab

package replicas

// restarts is how often a replica is replaced under load.
const restarts = 50
