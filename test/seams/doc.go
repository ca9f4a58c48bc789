// Package seams drives a real server and real workers through random sequences
// of everything that people, agents and faults can do, and checks after each
// sequence the laws of the system (laws.go).
//
// A sequence is a list of steps (verbs.go). It is drawn step by step while it is
// played, so that most steps fit the state that they meet (draw.go). What people
// were told, what the agents were told and what the agents still did is kept
// (record.go). When a law is broken, the sequence is played again with steps left
// out until no step can be spared (shrink.go), and printed with the command that
// plays it once more.
package seams
