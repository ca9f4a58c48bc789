// Package acp drives real agents that speak the Agent Client Protocol through
// whole stories: they ask, they are stopped, server and worker die, people
// answer elsewhere, and the session is loaded again. The agents are sealed off;
// the scripted model plays its part. It runs with the build tag agents.
package acp
