// Package acp runs any agent that speaks the Agent Client Protocol on its
// standard input and output. Permission requests and elicitations of the agent
// become questions: people may answer while it waits, for a bounded time, and
// after that the turn is cancelled, and a later run loads the session again and
// hands the answer over.
//
// The agent gets no files and no terminals from its client: it has its own, in
// its working directory, and what it is not offered it cannot misuse.
package acp
