// Package agents drives real agent programs through a real server and real
// workers: they ask, stop, and are resumed with the answer.
package agents
