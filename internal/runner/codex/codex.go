// Package codex runs Codex as an agent. The user's own CODEX_HOME stays in force, with its login and settings.
// Fermata's settings are passed as overrides. No hook of Codex can pause a run. So the runner stops the program after a
// question was asked, as soon as the record of the session holds the call.
package codex

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// Name is this runner's name in tasks.
const Name = "codex"

// toolTimeout is how long a call of Fermata's tools may take, in seconds. It is longer than any wait that an agent can
// ask for.
const toolTimeout = 24 * 60 * 60

// New returns a runner.
func New(o agent.Options) *agent.Runner {
	return agent.New(agent.Kind{
		Name: Name, Program: "codex", Resume: []string{"resume"}, SessionEnv: []string{"CODEX_HOME"},
		PassEnv:     []string{"CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"},
		Command:     command,
		Reader:      func() func([]byte) []agent.Event { return read },
		AwaitRecord: awaitRecord,
		InUse:       func(words string) bool { return strings.Contains(words, "already has an active writer") },
		TellsEnd:    true,
	}, o)
}

// sandboxArgs keeps commands in the working directory and away from the network, whatever the user's own settings allow.
// Those settings are for sessions in which a person is asked; here no person is asked.
var sandboxArgs = []string{
	"-c", `sandbox_mode="workspace-write"`, "-c", "sandbox_workspace_write.network_access=false", "-c", "sandbox_workspace_write.writable_roots=[]",
}

// command returns the arguments, which make Codex work in the sandbox. The user's arguments come later and win.
func command(t *agent.Turn) (args, env []string, err error) {
	args = []string{"exec"}
	if t.Session != "" {
		args = append(args, "resume")
	}
	args = append(append(args, "--json", "--skip-git-repo-check"), sandboxArgs...)
	if t.Fermata != "" {
		server := "mcp_servers.fermata."
		args = append(args,
			"-c", server+"command="+quoteTOML(t.Fermata),
			"-c", server+`args=["mcp"]`,
			"-c", server+"env_vars="+quoteTOMLList(agent.ServerEnv),
			"-c", server+"tool_timeout_sec="+strconv.Itoa(toolTimeout),
			"-c", server+`default_tools_approval_mode="approve"`,
			"-c", "hooks="+hooks(t),
		)
	}
	args = append(args, t.ExtraArgs...)
	if t.Session != "" {
		args = append(args, t.Session)
	}
	return append(args, "-"), nil, nil
}

// quoteTOML returns a string of TOML.
func quoteTOML(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(data)
}

// quoteTOMLList returns a list of TOML strings.
func quoteTOMLList(list []string) string {
	quoted := make([]string, len(list))
	for i := range list {
		quoted[i] = quoteTOML(list[i])
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// codexHome returns the folder in which Codex keeps its sessions.
func codexHome(t *agent.Turn) string {
	if dir := t.Getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return t.Getenv("HOME") + string(os.PathSeparator) + ".codex"
}
