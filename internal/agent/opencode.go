package agent

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
)

//go:embed opencode.js
var openCodePlugin string

// OpenCodePlugin is a plugin of opencode, which has no command hooks, that calls a
// gate before every tool. The gate is a command line; announced says that it is
// called, too, when the plugin is loaded.
func OpenCodePlugin(gate string, announced bool) ([]byte, error) {
	line, err := json.Marshal(gate)
	if err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer(`"HOOK"`, string(line), `"ANNOUNCED"`, strconv.FormatBool(announced)).Replace(openCodePlugin)), nil
}
