// Package worker claims tasks from a server, gives each a working copy, drives a [Runner] through it and reports the
// result.
//
// It decides nothing about tasks: the server does. It promises three things. An agent runs only while its worker holds
// the lease. A run that lost its lease changes nothing. The working copy of a task that waits for people stays exactly
// as the agent left it.
package worker
