//go:build unix

package claude_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = claude.New(agent.Options{})

// speak defines the suite's shell functions with the output lines of Claude Code.
var speak = `
line() { printf '%s\n' "$1"; }
begin() { line '{"type":"system","subtype":"init","session_id":"s-1","claude_code_version":"2.1.329","new_field":{"a":[1]}}'; }
content() { line '{"type":"assistant","message":{"role":"assistant","content":['"$1"']},"session_id":"s-1"}'; }
say() { said=$1; content '{"type":"text","text":"'"$1"'"}'; }
plan() { said='half way'; content '{"type":"tool_use","id":"toolu_0","name":"TodoWrite","input":{"todos":[{"content":"begin","status":"completed"},{"content":"half way","status":"in_progress"}]}}'; }
result() { line '{"type":"result","session_id":"s-1",'"$1"'}'; }
ask() {
	touch "$FERMATA_RUN_FOLDER/calls/` + agent.CallFilePrefix(true, "toolu_1") + `1"
	content '{"type":"tool_use","id":"toolu_1","name":"mcp__fermata__ask_user","input":{"question":"Which one?"}}'
	line '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"{}"}]}}'
	echo q_1 >"$FERMATA_RUN_FOLDER/stopped"
	result '"subtype":"success","is_error":false,"stop_reason":"tool_use","terminal_reason":"hook_stopped","result":""'
	exit
}
fail() { result '"subtype":"error_during_execution","is_error":true,"errors":["'"$1"'"]'; }
end() { result '"subtype":"success","is_error":false,"stop_reason":"end_turn","terminal_reason":"completed","result":"'"$said"'"'; }
resumed() { case " $* " in *" --resume s-1 "*) ;; *) return 1;; esac; }
`

func TestConformance(t *testing.T) {
	t.Parallel()
	runnertest.Run(t, func(t *testing.T, b runnertest.Behaviour) worker.Runner {
		return claude.New(agent.Options{Program: runnertest.WriteAgent(t, speak, b), Fermata: "/nowhere/fermata", Grace: b.Grace()})
	})
}
