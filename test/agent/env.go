package agent

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/agentcheck"
)

// Env is the whole environment of an agent program, as NAME=value.
type Env = agentcheck.Env

// Claude returns the environment of Claude Code.
func (r *Room) Claude(tb testing.TB) Env { return r.env(tb, "claude") }

// Codex returns the environment of Codex, and writes its configuration.
func (r *Room) Codex(tb testing.TB) Env { return r.env(tb, "codex") }

// OpenCode returns the environment of opencode, and writes its configuration.
func (r *Room) OpenCode(tb testing.TB) Env { return r.env(tb, "opencode") }

// Gemini returns the environment of Gemini CLI, and writes its configuration.
func (r *Room) Gemini(tb testing.TB) Env { return r.env(tb, "gemini") }

func (r *Room) env(tb testing.TB, program string) Env {
	tb.Helper()
	env, err := r.Env(program)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}
