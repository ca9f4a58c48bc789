// Package fermata holds the words, the states and the rules of Fermata: a
// task asks people a question, stops, is answered, and resumes.
//
// Everything here is pure. A rule takes what was loaded and returns what
// changes, or an [Error]; it opens no file, reads no clock and starts no
// goroutine. Storage, HTTP and the command line live in other packages and
// decide nothing.
//
// The structs are what travels: a row is read into them, JSON is written from
// them, the client decodes into them. One noun has one struct.
package fermata
