//go:build unix && lab

package attack

// allBugs is true: every seeded bug must be caught.
const allBugs = true
