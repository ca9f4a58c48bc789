// Package agent drives the headless programs of coding agents: those that take a prompt, report their actions as lines
// of JSON, and can be resumed by the id of their session. A runner package describes its program as a [Kind]. This
// package has the common part: prompts, stopping at a question, resuming, beginning again when a session is gone, and
// interruptions by people.
package agent
