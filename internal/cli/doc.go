// Package cli is the command line of Fermata. Every command but those that
// run a part of the server works over package client alone, so it can do what
// the API allows and nothing else.
//
// Data goes to standard output, talk to standard error. What agents wrote is
// data: it passes through [clean] or [exact] before it reaches a terminal.
package cli
