//go:build lab

package webhooks

// deliveries is how many webhooks are sent, kills how often the server is
// killed meanwhile, and faultyTries how many tries for one of them have faults.
const (
	deliveries  = 10_000
	kills       = 5
	faultyTries = 2
)
