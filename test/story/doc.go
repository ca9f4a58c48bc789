// Package story runs a load of workers and people, and keeps its own log of everything that a server acknowledged.
// Whatever happens to the servers meanwhile, their final data must agree with that log.
package story
