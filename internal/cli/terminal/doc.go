// Package terminal draws on a terminal and reads from it: lines, tables, prompts and an editor. It knows no command and no
// server.
//
// Text from agents is data. The functions [Clean], [CleanStrictly] and [OneLine] make it safe for a terminal.
package terminal
