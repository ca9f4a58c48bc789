// Package claude runs Claude Code as an agent. The program is started without a terminal. It asks people with Fermata's
// MCP tools or its own question tool. It ends as soon as it waits for a person, and is resumed by its session with the
// answer. See docs/guides/worker.md.
//
// The package reads the program's output in the format stream-json, and ignores everything in it that it does not know.
package claude
