//go:build !lab

package race

// How many questions are raced for; make crash races for twenty times as many.
const (
	questions       = 600
	seededQuestions = 200
)
