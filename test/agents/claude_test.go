package agents

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

func TestClaudeDeniesEverything(t *testing.T) {
	t.Parallel()
	testDenies(t, kind{name: "claude", env: (*agent.Room).Claude})
}
