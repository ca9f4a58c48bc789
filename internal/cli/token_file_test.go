package cli_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
)

func TestATokenOnACommandLineThatStaysIsWarnedOf(t *testing.T) {
	t.Parallel()
	secret := fermata.NewSecret()
	for _, args := range [][]string{{"worker", "--token", secret}, {"serve", "--agent-token=" + secret}} {
		if _, _, talk := clitest.Run(t, "", args...); !strings.Contains(talk, "is shown to every user of this machine") || strings.Contains(talk, secret) {
			t.Errorf("%s says %q", args[0], talk)
		}
	}
	file := clitest.WriteFile(t, "agent.token", secret+"\n")
	if _, _, talk := clitest.Run(t, "", "worker", "--token", "@"+file, "--agent-token", "@"+file); strings.Contains(talk, "warning") {
		t.Errorf("a file is warned of: %q", talk)
	}
}
