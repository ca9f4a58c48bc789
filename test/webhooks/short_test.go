//go:build !lab

package webhooks

// deliveries is how many webhooks are sent. kills is how often the server is
// killed meanwhile. faultyTries is how many tries of one webhook may fail.
const (
	deliveries  = 500
	kills       = 2
	faultyTries = 1
)
