// Package posting reads questions as agents and workflows write them, and
// brings them into the one form in which they are asked.
package posting
