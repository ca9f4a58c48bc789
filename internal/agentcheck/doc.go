// Package agentcheck checks whether an agent program behaves as Fermata expects: it stops when it asks, and is resumed
// with the answer. If the program can defer a call, that call returns the answer. The program is isolated: its home is
// a temporary folder, and a scripted model replaces its model.
package agentcheck
