// Package ask holds the command with which an agent or a person asks a question and waits for the answer.
package ask
