//go:build lab && race

package definition_test

// raceFactor is the factor by which the race detector slows everything down.
const raceFactor = 10
