// Package claude drives the real Claude Code through whole stories: it asks,
// its process ends, server and worker die, people answer elsewhere, and the
// same session goes on. It has no network; a scripted model replies to it.
package claude
