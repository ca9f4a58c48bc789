//go:build lab && !race

package definition_test

// raceFactor is the factor by which the race detector slows everything down. Here
// the detector is off.
const raceFactor = 1
