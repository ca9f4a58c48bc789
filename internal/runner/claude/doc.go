// Package claude runs Claude Code as an agent. The program is started without
// a terminal, asks people by Fermata's MCP tools or its own question tool, ends
// as soon as it waits for a person, and is resumed by its session with the
// answer. docs/claude.md describes it.
//
// It knows the program by what it writes on standard output as stream-json;
// whatever it does not know there it passes over.
package claude
