package acp

import "encoding/json"

// named is what an agent's program says of a tool beside the protocol's own
// fields. claude-agent-acp tells the name of every tool and the server of those
// that have one.
type named struct {
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

func (n named) read() toolMeta {
	var m toolMeta
	json.Unmarshal(n.Meta, &m) //nolint:errcheck // metadata of another form names no tool
	return m
}

// toolName is the name of the tool; empty where the program tells none.
func (n named) toolName() string { return n.read().ClaudeCode.ToolName }

// isOurs reports whether the tool's server, where the program names one, is the one
// that the agent was given: not a server of the same name from a file of the
// project.
func (n named) isOurs() bool {
	s := n.read().ClaudeCode.MCPServer
	return s == nil || s.Name == server && s.Source == givenSource
}

// givenSource is what Claude Code says of a server that the session was given, not one
// that it found in a file.
const givenSource = "dynamic"
