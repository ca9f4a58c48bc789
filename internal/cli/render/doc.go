// Package render shows tasks, questions, messages and events to people. Text from agents is data: package render cleans
// it before it reaches a terminal.
package render
