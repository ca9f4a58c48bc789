package agents

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

func TestMain(m *testing.M) { agent.Main(m) }
