//go:build !linux

package process

// KillMarked does nothing: only Linux shows the environment with which a process was started.
func KillMarked(string) {}

// killProgram does nothing either.
func killProgram(string, int) {}
