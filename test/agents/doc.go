// Package agents drives real agent programs through whole stories: they ask,
// their process ends, servers and workers die, people answer elsewhere, and the
// same session goes on. The programs are sealed off; the scripted model plays
// their part.
package agents
