// Package acp runs any agent that speaks the Agent Client Protocol on its standard input and output. Permission
// requests and elicitations of the agent become questions. For a limited time the agent waits for the answer. After
// that, the turn is cancelled, and a later run loads the session again and hands over the answer.
//
// The client gives the agent no access to files or terminals: the agent has its own in its working directory, and
// cannot misuse access that it does not have.
package acp
