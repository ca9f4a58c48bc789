//go:build lab

package seams

import "time"

// The searches run on both databases at the same time: first the calm sequences, then those with faults.
var (
	calm  = Search{Duration: 15 * time.Minute, ShrinkTime: 4 * time.Minute, Parallel: 6, Corpus: true}
	rough = Search{Duration: 15 * time.Minute, ShrinkTime: 4 * time.Minute, Parallel: 1, Corpus: true}
)

// allBugs is true: every seeded bug must be found.
const allBugs = true

// corpusFirst is false: random sequences must find the bugs.
const corpusFirst = false

// findsWithin is the time limit for finding a seeded bug.
const findsWithin = 5 * time.Minute
