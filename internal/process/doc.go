// Package process runs a program with all processes that it starts, and leaves none of them behind.
package process
