// Package session is one run of a command: its flags, its client of the server, its errors and its exit codes. It also
// holds what several commands do alike: they find tasks by short ids, read files that a flag names, and stream events.
package session
