//go:build !linux

package process

// Shield does nothing: on systems other than Linux, agents that run as the same user can read the memory and the
// environment of this process.
func Shield() error { return nil }
