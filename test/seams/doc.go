// Package seams drives a real server and real workers through random sequences of everything that people, agents and
// faults can do. After each sequence it checks the laws of the system (laws.go).
//
// A sequence is a list of steps (verbs.go). It is drawn step by step while it is played, so that most steps fit the
// state at that point (draw.go). The package records what people and agents were told, and what the agents still did
// (record.go). If a law is broken, the sequence is replayed with steps left out until every step is needed (shrink.go).
// Then it is printed with the command that replays it.
package seams
