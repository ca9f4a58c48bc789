// Package story is a load of workers and people that keep their own log of everything that a server acknowledged.
// Whatever happens to the servers meanwhile, their final data must agree with that log.
package story
