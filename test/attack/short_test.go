//go:build unix && !lab

package attack

// allBugs is false: each run of the gate tries one seeded bug, chosen at random.
const allBugs = false
