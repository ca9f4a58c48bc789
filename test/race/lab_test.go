//go:build lab

package race

// The numbers of questions for which clients race.
const (
	questions       = 12_000
	seededQuestions = 2_000
)
