// Package fermata holds the words, the states and the rules of Fermata: a task
// asks people a question, stops, gets an answer, and resumes.
//
// Everything here is pure. A rule takes loaded rows and returns the changes, or
// an [Error]. It opens no file, reads no clock and starts no goroutine.
// Storage, HTTP and the command line live in other packages and decide nothing.
//
// All layers share these structs: the store reads rows into them, the server
// writes JSON from them, and the client decodes JSON into them. Each noun has
// one struct.
package fermata
