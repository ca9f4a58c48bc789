//go:build !lab

package race

// The numbers of questions for which clients race. make crash uses up to sixty times as many.
const (
	questions       = 200
	seededQuestions = 100
)
