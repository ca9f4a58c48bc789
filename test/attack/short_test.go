//go:build unix && !lab

package attack

// allBugs is off: the gate puts in one seeded bug a run, another one each time.
const allBugs = false
