package agent

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/rehearsal"
)

// Env is the whole environment of an agent program, as NAME=value.
type Env = rehearsal.Env

// Claude is the environment of Claude Code.
func (r *Room) Claude(tb testing.TB) Env { return r.env(tb, "claude") }

// Codex is the environment of Codex. It writes its configuration.
func (r *Room) Codex(tb testing.TB) Env { return r.env(tb, "codex") }

// OpenCode is the environment of opencode. It writes its configuration.
func (r *Room) OpenCode(tb testing.TB) Env { return r.env(tb, "opencode") }

// Gemini is the environment of Gemini CLI. It writes its configuration.
func (r *Room) Gemini(tb testing.TB) Env { return r.env(tb, "gemini") }

func (r *Room) env(tb testing.TB, program string) Env {
	tb.Helper()
	env, err := r.Env(program)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}
