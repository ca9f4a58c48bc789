//go:build !lab

package race

// How many questions are raced for.
const (
	questions       = 1200
	seededQuestions = 200
)
