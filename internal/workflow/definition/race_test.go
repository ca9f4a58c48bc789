//go:build lab && race

package definition_test

// slower is how much the race detector slows everything down.
const slower = 10
