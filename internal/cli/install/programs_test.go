package install

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/hook"
)

// A hook ends before the program stops to wait for it.
func TestHooksEndBeforeTheProgramsStopWaiting(t *testing.T) {
	t.Parallel()
	if wait := 5*time.Minute + hook.Timeout; deskWait != "5m" || wait >= hookSeconds*time.Second || hook.Timeout >= gateSeconds*time.Second ||
		hook.Timeout >= agent.HookSeconds*time.Second {
		t.Errorf("a hook may take %s, longer than the programs wait", wait)
	}
}
