//go:build !lab

package seams

import "time"

// The searches of the gate are short. `make crash` searches for half an hour.
var (
	calm  = Search{Duration: 12 * time.Second, ShrinkTime: 20 * time.Second, Parallel: 6, Corpus: true}
	rough = Search{Duration: 12 * time.Second, ShrinkTime: 30 * time.Second, Parallel: 1, Corpus: true}
)

// allBugs is false: each run checks one seeded bug, chosen at random.
const allBugs = false

// corpusFirst plays the sequences that are known to find something before random ones, because the verdict of the gate
// must not depend on luck.
const corpusFirst = true

// findsWithin is the limit of the search for a seeded bug. It is long because machines may be busy.
const findsWithin = 4 * time.Minute
