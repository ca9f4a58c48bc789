// Package cli is the command line of Fermata. The commands use package client
// alone, so they can do exactly what the API allows. Only the commands that run
// a part of the server do more.
//
// Package cli holds the grammar and the commands that make one call. Commands
// with more to do have packages of their own below it. They share package
// session, and packages render and terminal show things to people.
//
// Data goes to standard output, messages for the person go to standard error.
// Text from agents is data: it passes through [terminal.Clean] or
// [terminal.CleanStrictly] before it reaches a terminal.
package cli
