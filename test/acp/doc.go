// Package acp drives real agents that speak the Agent Client Protocol through
// whole stories: they ask, they are stopped, server and worker die, people
// answer elsewhere, and the session is loaded again. The agents have no network;
// a scripted model replies to them.
package acp
