// Package agent drives the headless programs of coding agents: those that take
// a prompt, report what they do as lines of JSON, and can be resumed by the id
// of their session. A room of runners describes its program as a [Kind]; what
// all of them have in common is here: prompts, stopping at a question, resuming,
// beginning anew when a session is gone, and people who interrupt.
package agent
