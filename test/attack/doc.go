// Package attack tries to get what nobody gave: it runs the real program against
// callers and agents that do all they can.
package attack
