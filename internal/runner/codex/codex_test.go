//go:build unix

package codex_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/codex"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = codex.New(agent.Options{})

// speak defines the suite's shell functions with the output lines of Codex.
const speak = `
begin() { echo '{"type":"thread.started","thread_id":"s-1"}'; echo '{"type":"turn.started"}'; }
say() { echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"'"$1"'"}}'; }
plan() { echo '{"type":"item.started","item":{"id":"item_1","type":"todo_list","items":[{"text":"begin","completed":true},{"text":"half way","completed":false}]}}'; }
ask() {
	echo '{"type":"item.started","item":{"id":"item_2","type":"mcp_tool_call","server":"fermata","tool":"ask_user","arguments":{"question":"Which one?"},"status":"in_progress"}}'
	echo '{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"fermata","tool":"ask_user","arguments":{"question":"Which one?"},"result":{"content":[],"structured_content":{"status":"pending","question_id":"q_1"}},"status":"completed"}}'
}
fail() { echo '{"type":"turn.failed","error":{"message":"'"$1"'"}}'; }
end() { echo '{"type":"turn.completed","usage":{}}'; }
resumed() { case " $* " in " exec resume "*" s-1 "*) ;; *) return 1;; esac; }
`

func TestConformance(t *testing.T) {
	t.Parallel()
	runnertest.Run(t, func(t *testing.T, b runnertest.Behaviour) worker.Runner {
		// This record of the session is complete already. A test with the real program covers the wait for the record.
		home := t.TempDir()
		writeRecord(t, home, "s-1", `{"type":"response_item","payload":{"type":"function_call","call_id":"c"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"q_1"}}
`)
		return codex.New(agent.Options{
			Program: runnertest.WriteAgent(t, speak, b), Grace: b.Grace(), SetEnv: []string{"CODEX_HOME=" + home},
		})
	})
}

// writeRecord writes the record of a session.
func writeRecord(t *testing.T, home, session, text string) {
	t.Helper()
	name := filepath.Join(home, "sessions", "2026", "11", "21", "rollout-2026-11-21T00-00-00-"+session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
