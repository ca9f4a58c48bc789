//go:build agents

package acp

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

// If a rule denies everything, an agent can do nothing, whatever the settings of the
// project allow: no command, no file, no network, no MCP server.
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
