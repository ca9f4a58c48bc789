//go:build unix

package gemini_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/gemini"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = gemini.New(agent.Options{})

// speak defines the suite's shell functions with the output lines of Gemini CLI.
const speak = `
begin() { echo '{"type":"init","session_id":"s-1","model":"m"}'; echo '{"type":"message","role":"user","content":"prompt"}'; }
say() {
	rest=${1#?}
	echo '{"type":"message","role":"assistant","content":"'"${1%"$rest"}"'","delta":true}'
	echo '{"type":"message","role":"assistant","content":"'"$rest"'","delta":true}'
}
call() { echo '{"type":"tool_use","tool_name":"'$1'","tool_id":"t1","parameters":'"$2"'}'; }
plan() {
	call write_todos '{"todos":[{"description":"begin","status":"completed"},{"description":"half way","status":"in_progress"}]}'
	echo '{"type":"tool_result","tool_id":"t1","status":"success","output":""}'
}
ask() {
	call mcp_fermata_ask_user '{"question":"Which one?"}'
	echo '{"type":"tool_result","tool_id":"t1","status":"success","output":"{\"status\":\"pending\",\"question_id\":\"q_1\"}"}'
}
fail() { echo '{"type":"result","status":"error","error":{"type":"FatalError","message":"'"$1"'"}}'; }
end() { echo '{"type":"result","status":"success","stats":{}}'; }
resumed() { case " $* " in *" --resume s-1 "*) ;; *) return 1;; esac; }
`

func TestConformance(t *testing.T) {
	t.Parallel()
	runnertest.Run(t, func(t *testing.T, b runnertest.Behaviour) worker.Runner {
		return gemini.New(agent.Options{Program: runnertest.WriteAgent(t, speak, b), Grace: b.Grace()})
	})
}
