package definition_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

func TestScriptIn(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]int{
		"": -1, "make test": -1, "sh": -1, "sh -c": -1, "sh run.sh -c x": -1, "sh -c x y": 2, "/usr/bin/bash -eu -c x": 3, "bash -euc x": 2,
		"bash --norc -o pipefail -c x": 5, "bash -euo pipefail -c x": 4, "sh -c -- x": 3, "python -c x": -1,
	} {
		if got := definition.ScriptIn(strings.Fields(command)); got != want {
			t.Errorf("%q: %d, want %d", command, got, want)
		}
	}
}

func TestDelayNeverRunsOver(t *testing.T) {
	t.Parallel()
	r := definition.Retry{Backoff: 10 * time.Second, MaxBackoff: 10 * time.Minute, Factor: 1e30}
	for failed, want := range map[int]time.Duration{1: 10 * time.Second, 2: 10 * time.Minute, 50: 10 * time.Minute} {
		if got := r.Delay(failed); got != want {
			t.Errorf("after %d: %s, want %s", failed, got, want)
		}
	}
}
