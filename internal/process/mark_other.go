//go:build !linux

package process

// KillMarked does nothing: only Linux tells with which environment a process was started.
func KillMarked(string) {}

// killProgram does nothing either.
func killProgram(string, int) {}
