package agent

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
)

//go:embed opencode.js
var openCodePlugin string

// OpenCodePlugin returns a plugin that calls a gate before every tool. opencode needs it because it has no command
// hooks. The gate is a command line. If announced is true, the gate is also called when the plugin is loaded.
func OpenCodePlugin(gate string, announced bool) ([]byte, error) {
	line, err := json.Marshal(gate)
	if err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer(`"HOOK"`, string(line), `"ANNOUNCED"`, strconv.FormatBool(announced)).Replace(openCodePlugin)), nil
}
