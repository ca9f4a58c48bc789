// Package command runs any program as an agent. The program gets the task on its standard input, works in the current
// folder, and reports its result as one JSON object. docs/reference/worker.md describes both sides.
//
// The package keeps nothing between runs: a program that resumes finds the answers in its context, and its work where
// it left it.
package command
