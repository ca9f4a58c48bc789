// Package mcpserver lets agents ask people through the Model Context Protocol.
//
// It translates tool calls into what a [Desk] does, and its results into what
// agents read. It keeps no question: a call that ends, a client that goes away
// and a server that stops leave every question as it was. It never answers for
// a person.
package mcpserver
