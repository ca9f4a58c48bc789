// Package mcpserver lets agents ask people through the Model Context Protocol
// (MCP).
//
// It translates tool calls into calls of a [Backend], and their results into text
// for agents. It stores no question. When a call ends, a client goes away or a
// server stops, every question stays as it was. It never answers for a person.
package mcpserver
