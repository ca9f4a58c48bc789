// Package story is a load of workers and people that keep a log of their own:
// of everything that a server acknowledged. However the servers were treated
// meanwhile, what they hold at the end must agree with that log.
package story
