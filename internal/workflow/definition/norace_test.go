//go:build lab && !race

package definition_test

// slower is how much the race detector slows everything down: it is off.
const slower = 1
