package cli

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestATokenOnACommandLineThatStaysIsWarnedOf(t *testing.T) {
	t.Parallel()
	secret := fermata.NewSecret()
	for _, args := range [][]string{{"worker", "--token", secret}, {"serve", "--agent-token=" + secret}} {
		if _, _, talk := run(t, "", args...); !strings.Contains(talk, "is shown to every user of this machine") || strings.Contains(talk, secret) {
			t.Errorf("%s says %q", args[0], talk)
		}
	}
	file := writeFile(t, "agent.token", secret+"\n")
	if _, _, talk := run(t, "", "worker", "--token", "@"+file, "--agent-token", "@"+file); strings.Contains(talk, "warning") {
		t.Errorf("a file is warned of: %q", talk)
	}
}
