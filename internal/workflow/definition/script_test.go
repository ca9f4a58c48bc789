package definition_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

func TestScriptsIn(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]int{
		"": nil, "make test": nil, "sh": nil, "sh -c": nil, "sh run.sh -c x": nil, "sh -c x y": {2}, "/usr/bin/bash -eu -c x": {3}, "bash -euc x": {2},
		"bash --norc -o pipefail -c x": {5}, "bash -euo pipefail -c x": {4}, "sh -c -- x": {3}, "env -i A=b sh -c x": {5}, "nice -n 5 bash -c x": {5},
		"timeout 5 sh -c x": {4}, "sudo -u bob sh -c x": {5}, "busybox sh -c x": {3}, "xargs -n1 sh -c x": {4}, "docker exec c sh -c x": {5},
		"python -c x": {2}, "python3.12 -u -c x": {3}, "python -W ignore -c x": {4}, "python run.py -c x": nil, "python -m http -c x": nil,
		"node -e x": {2}, "node --eval x": {2}, "node --eval=x": {1}, "node -pe x": {2}, "node run.js -e x": nil,
		"perl -e x": {2}, "perl -lne x f": {2}, "ruby -e x": {2}, "php -r x": {2}, "awk x f": {1}, "awk -F : x f": {3}, "sed -e x f": {2}, "sed x f": {1},
		"su bob -c x": {3}, "ssh host x y": {2, 3}, "ssh -p 22 host x": {4}, "ssh -o A=b host sh -c x": {4, 5, 6}, "watch x y": {1, 2},
		"perl -e a -e x f": {2, 4}, "perl -w -e a f -e x": {3}, "sed -e a -e x f": {2, 4}, "sed -e a f -e x": {2, 5}, "sed -f a f": nil, "gawk -e a -e x f": {2, 4},
		"bash --rcfile f -c x": {4}, "bash --login -c x y": {3}, "node --require f -e x": {4}, "node --require f run.js -e x": nil,
		"env -S x": {2}, "env --split-string=x": {1}, "env -u A B=c sort -S x": nil, "env A=b -S x": {3},
		"ssh -oProxyCommand=x host": {1}, "ssh -o ProxyCommand=x host": {2}, "ssh -o proxycommand host": {2}, "ssh -oPort=x host": nil, "ssh -o {{x}} host": {2},
		"tini -- sh -c x": {4}, "gosu bob sh -c x": {4}, "script -c x f": {2}, "script -q /dev/null sh -c x": {5}, "uv run python -c x": {4}, "nix-shell -p a --run x": {4},
		"deno eval x": {2}, "deno eval --ext=ts x y": {3}, "deno run a.ts eval x": nil,
		"pwsh -c x": {2}, "pwsh -NoProfile -Command x y": {3, 4}, "pwsh -ExecutionPolicy Bypass -File f -c x": nil, "pwsh -ExecutionPolicy Bypass -comm x": {4},
		"grep sh -c x": nil, "grep -r node -e x": nil, "echo python -c x": nil,
	} {
		if got := definition.ScriptsIn(strings.Fields(command)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", command, got, want)
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
