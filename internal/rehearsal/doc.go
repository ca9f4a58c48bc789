// Package rehearsal tries whether an agent program behaves as Fermata expects:
// it is stopped when it asks, resumed with the answer, and, where the program
// can, has a call put off and gets the answer as what that call returns. The
// program is sealed off: its home is a folder that is thrown away, and what it
// takes for its model follows a script.
package rehearsal
