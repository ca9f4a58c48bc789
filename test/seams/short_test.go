//go:build !lab

package seams

import "time"

// How long is searched; make crash searches for half an hour.
var (
	calm  = Search{For: 12 * time.Second, Shrink: 20 * time.Second, Together: 6, Corpus: true}
	rough = Search{For: 12 * time.Second, Shrink: 30 * time.Second, Together: 1, Corpus: true}
)

// allBugs is off: one seeded bug a run, another one each time.
const allBugs = false

// corpusFirst plays the sequences that are known to find something before random ones: what the gate says must not
// depend on luck.
const corpusFirst = true

// findsWithin is the limit of the search for a seeded bug. It is long because machines may be busy.
const findsWithin = 4 * time.Minute
