//go:build !lab

package race

// How many questions are raced for; make crash races for sixty times as many.
const (
	questions       = 200
	seededQuestions = 100
)
