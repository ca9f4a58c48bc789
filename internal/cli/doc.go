// Package cli is the command line of Fermata. The commands use package client
// alone, so they can do exactly what the API allows. Only the commands that run
// a part of the server do more.
//
// Data goes to standard output, messages for the person go to standard error.
// Text from agents is data: it passes through [clean] or [visibleExact] before
// it reaches a terminal.
package cli
