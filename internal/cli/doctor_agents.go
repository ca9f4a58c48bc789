package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// testedAgents are the agent programs that Fermata drives, their packages, and the versions with which Fermata was
// tested. A test compares these versions with those that the tests install.
var testedAgents = []struct{ name, pack, version string }{
	{"claude", "@anthropic-ai/claude-code", "2.1.329"},
	{"codex", "@openai/codex", "0.169.0"},
	{"gemini", "@google/gemini-cli", "0.61.0"},
	{"opencode", "opencode-ai", "1.18.33"},
}

// versionTimeout is the longest time that a program may take to print its version.
const versionTimeout = 30 * time.Second

// versionPattern matches the version in the output of a program, with any text around it.
var versionPattern = lazyregexp.New(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// checkAgentVersions looks for the agent programs that runners drive.
func checkAgentVersions(ctx context.Context) []finding {
	found := make([]*finding, len(testedAgents))
	var wg sync.WaitGroup
	for i, a := range testedAgents {
		wg.Go(func() { found[i] = checkAgentVersion(ctx, a.name, a.version) })
	}
	wg.Wait()
	found = slices.DeleteFunc(found, func(f *finding) bool { return f == nil })
	if len(found) == 0 {
		names := make([]string, len(testedAgents))
		for i, a := range testedAgents {
			names[i] = a.name
		}
		return []finding{{Check: "agents", Status: "ok", Detail: "none of " + strings.Join(names, ", ") + " is installed; a worker can run any program"}}
	}
	findings := make([]finding, len(found))
	for i, f := range found {
		findings[i] = *f
	}
	return findings
}

// checkAgentVersion checks one program. It returns nil if the program is not installed.
func checkAgentVersion(ctx context.Context, name, testedVersion string) *finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	out, err := readVersion(ctx, path)
	if err != nil {
		return &finding{Check: name, Status: "warn", Detail: fmt.Sprintf("%s does not tell its version: %v", path, err)}
	}
	switch version := versionPattern().FindString(out); version {
	case testedVersion:
		return &finding{Check: name, Status: "ok", Detail: version + ", the version that Fermata was tested with"}
	case "":
		return &finding{Check: name, Status: "warn", Detail: fmt.Sprintf("%s tells no version; Fermata was tested with %s", path, testedVersion)}
	default:
		return &finding{Check: name, Status: "warn", Detail: fmt.Sprintf("%s; Fermata was tested with %s, and these programs change: fermata doctor --agents tries it", version, testedVersion)}
	}
}

// readVersion asks a program for its version. Some programs write into the home folder even then, so the program gets
// a temporary one. If it fails there, readVersion runs it with the user's own home: some programs can only be found
// through a file in it.
func readVersion(ctx context.Context, path string) (string, error) {
	home, err := os.MkdirTemp("", "fermata-doctor-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home) //nolint:errcheck // the system clears what is left
	env := os.Environ()
	for _, name := range []string{
		"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME",
	} {
		env = append(env, name+"="+home)
	}
	out, err := runVersionCommand(ctx, path, env)
	if _, ended := errors.AsType[*exec.ExitError](err); ended && !errors.Is(err, context.DeadlineExceeded) {
		return runVersionCommand(ctx, path, os.Environ())
	}
	return out, err
}

func runVersionCommand(ctx context.Context, path string, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = env
	// Processes that the program starts may keep its output open.
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it took longer than %s: %w", versionTimeout, ctx.Err())
	case errors.Is(err, exec.ErrWaitDelay) && len(out) > 0:
		err = nil
	}
	return string(out), err
}

// AgentCheckOptions select the agent program that `fermata doctor` checks.
type AgentCheckOptions struct {
	// Agent is the runner's name. Path is the path of its program.
	Agent, Path string
}

// AgentCheckResult is the result of one step of an agent check.
type AgentCheckResult struct {
	// Step is stop, resume, defer or deny. Status is ok, warn, fail or skip.
	Step, Status, Detail string
	// Log is the output of the agent's run if the step failed.
	Log string
}

// runAgentChecks checks the installed programs one after another, because they are large.
func (d *diagnosis) runAgentChecks(ctx context.Context, hooks Hooks) error {
	if hooks.CheckAgent == nil {
		return session.NotBuiltError("doctor --agents")
	}
	for _, a := range testedAgents {
		path, err := exec.LookPath(a.name)
		if err != nil {
			continue
		}
		results, err := hooks.CheckAgent(ctx, AgentCheckOptions{Agent: a.name, Path: path})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hint := "do not let " + a.name + " wait for people before this is fixed: "
		if d.hasTestedVersion(a.name) {
			hint += "its version is the tested one, so look at what it wrote, and for settings that an administrator manages"
		} else {
			hint += fmt.Sprintf("`npm install -g %s@%s` is what Fermata was tested with", a.pack, a.version)
		}
		for _, result := range results {
			d.add(agentCheckFinding(a.name, hint, result))
		}
		if err != nil {
			d.add(finding{Check: a.name, Status: "fail", Detail: "it could not be tried: " + err.Error()})
		}
	}
	return nil
}

// hasTestedVersion reports whether the installed version of a program is the tested one.
func (d *diagnosis) hasTestedVersion(name string) bool {
	return slices.ContainsFunc(d.findings, func(f finding) bool { return f.Check == name && f.Step == "" && f.Status == "ok" })
}

// maxLogLines is the largest number of lines of an agent's output in a finding.
const maxLogLines = 12

func agentCheckFinding(agent, hint string, result AgentCheckResult) finding {
	f := finding{Check: agent, Step: result.Step, Status: result.Status, Detail: result.Detail}
	if result.Status == "fail" || result.Status == "warn" {
		f.Hint = hint
	}
	lines := strings.Split(strings.TrimSpace(result.Log), "\n")
	f.Log = strings.Join(lines[max(0, len(lines)-maxLogLines):], "\n")
	return f
}
