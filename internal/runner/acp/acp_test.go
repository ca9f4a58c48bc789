//go:build unix

package acp_test

import (
	"os"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/acp"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = (*acp.Runner)(nil)

func TestConformance(t *testing.T) {
	t.Parallel()
	runnertest.Run(t, func(t *testing.T, b runnertest.Behaviour) worker.Runner {
		return acp.New(standInOptions(t, string(b), b.Grace()))
	})
}

// standInOptions returns options that run the stand-in.
func standInOptions(t *testing.T, does string, grace time.Duration, env ...string) acp.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return acp.Options{AllowUnknown: true, Options: agent.Options{Program: self, Grace: grace, SetEnv: append(env, standInEnv+"="+does, "GORACE=atexit_sleep_ms=0")}}
}
