//go:build agents

package acp

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

// Nothing that acts runs against a rule that denies everything, whatever the settings of
// the project allow: not a command, not a file, not the network, not an MCP server.
func TestDeniesEverything(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		for settings, open := range map[string]bool{"none": false, "open": true} {
			t.Run(k.name+"/"+settings, func(t *testing.T) {
				t.Parallel()
				agent.CheckDeny(t, k.name, open, func(room *agent.Room) *agent.Lab { return k.lab(t, room) })
			})
		}
	}
}
