//go:build lab && !race

package definition_test

// slower is the factor by which the race detector slows everything down. Here
// the detector is off.
const slower = 1
