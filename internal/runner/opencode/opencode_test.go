//go:build unix

package opencode_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/opencode"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = opencode.New(agent.Options{})

// speak defines the suite's shell functions with the output lines of opencode.
const speak = `
line() { echo '{"type":"'$1'","sessionID":"s-1","part":{"messageID":"msg_1"'"$2"'}}'; }
begin() { line step_start; line step_finish ',"reason":"tool-calls"'; }
say() { line step_start; line text ',"text":"'"$1"'"'; line step_finish ',"reason":"stop"'; }
plan() { line tool_use ',"tool":"todowrite","state":{"status":"completed","input":{"todos":[{"content":"begin","status":"completed"},{"content":"half way","status":"in_progress"}]}}'; }
ask() {
	line step_start
	line tool_use ',"tool":"fermata_ask_user","state":{"status":"completed","input":{"question":"Which one?"},"output":"{\"status\":\"pending\",\"question_id\":\"q_1\"}"}'
	line step_finish ',"reason":"tool-calls"'
}
fail() { echo '{"type":"error","sessionID":"s-1","error":{"name":"APIError","data":{"message":"'"$1"'"}}}'; }
end() { :; }
resumed() { case " $* " in " run "*" --session s-1 "*) ;; *) return 1;; esac; }
`

func TestConformance(t *testing.T) {
	t.Parallel()
	runnertest.Run(t, func(t *testing.T, b runnertest.Behaviour) worker.Runner {
		return opencode.New(agent.Options{Program: runnertest.WriteAgent(t, speak, b), Grace: b.Grace()})
	})
}
