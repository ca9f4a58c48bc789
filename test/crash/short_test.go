//go:build !lab

package crash

// kills is how often each server is killed.
const kills = 12
