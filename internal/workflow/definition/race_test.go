//go:build lab && race

package definition_test

// slower is the factor by which the race detector slows everything down.
const slower = 10
