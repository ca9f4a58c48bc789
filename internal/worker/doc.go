// Package worker claims tasks from a server, gives each a working copy, drives
// a [Runner] through it and reports what came of it.
//
// It decides nothing about tasks: the server does. What it promises is that an
// agent runs only while its worker holds the lease, that a run which lost its
// lease changes nothing any more, and that the working copy of a task which
// waits for people stays exactly as the agent left it.
package worker
