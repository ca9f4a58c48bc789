//go:build unix && lab

package attack

// allBugs is on: every seeded bug must be caught.
const allBugs = true
