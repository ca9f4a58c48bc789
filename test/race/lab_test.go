//go:build lab

package race

// How many questions are raced for.
const (
	questions       = 12_000
	seededQuestions = 2_000
)
