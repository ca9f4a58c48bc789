// Package process runs a program with everything it starts, and leaves nothing
// of it behind.
package process
