package mcpserver

import "github.com/fermata-hq/fermata"

// Guidance tells agents when to ask, and how. It is the server's instructions.
const Guidance = fermata.AgentGuidance
