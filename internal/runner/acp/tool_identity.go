package acp

import "encoding/json"

// toolIdentity is the program's metadata about a tool, in addition to the protocol's own fields. claude-agent-acp
// reports the name of every tool, and the server of those that have one.
type toolIdentity struct {
	Meta json.RawMessage `json:"_meta"`
}

// toolMeta is the part of the metadata that names a tool.
type toolMeta struct {
	ClaudeCode struct {
		ToolName  string `json:"toolName"`
		MCPServer *struct {
			Name   string `json:"name"`
			Source string `json:"source"`
		} `json:"mcpServer"`
	} `json:"claudeCode"`
}

func (n toolIdentity) parse() toolMeta {
	var m toolMeta
	json.Unmarshal(n.Meta, &m) //nolint:errcheck // metadata of another form names no tool
	return m
}

// toolName returns the name of the tool, or "" if the program reports none.
func (n toolIdentity) toolName() string { return n.parse().ClaudeCode.ToolName }

// isOwnServer reports whether the tool's server is the one that the agent was given. A server of the same name from a file
// of the project is not ours. isOwnServer returns true if the program names no server.
func (n toolIdentity) isOwnServer() bool {
	s := n.parse().ClaudeCode.MCPServer
	return s == nil || s.Name == serverName && s.Source == givenSource
}

// givenSource is what Claude Code reports as the source of a server that was given to the session, and not found in a
// file.
const givenSource = "dynamic"
