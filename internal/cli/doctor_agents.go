package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// testedAgents are the agent programs that Fermata drives, their packages, and the versions with which Fermata was
// tested. A test compares these versions with those that the tests install.
var testedAgents = []struct{ name, pack, version string }{
	{"claude", "@anthropic-ai/claude-code", "2.1.329"},
	{"codex", "@openai/codex", "0.169.0"},
	{"gemini", "@google/gemini-cli", "0.61.0"},
	{"opencode", "opencode-ai", "1.18.33"},
}

// versionPatience is the longest time that a program may take to print its version.
const versionPatience = 30 * time.Second

// versionNumber matches the version in the output of a program, with any text around it.
var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// checkAgents looks for the agent programs that runners drive.
func checkAgents(ctx context.Context) []finding {
	found := make([]*finding, len(testedAgents))
	var looking sync.WaitGroup
	for i, a := range testedAgents {
		looking.Go(func() { found[i] = checkAgent(ctx, a.name, a.version) })
	}
	looking.Wait()
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

// checkAgent checks one program. It returns nil if the program is not installed.
func checkAgent(ctx context.Context, name, tested string) *finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	out, err := tellVersion(ctx, path)
	if err != nil {
		return &finding{Check: name, Status: "warn", Detail: fmt.Sprintf("%s does not tell its version: %v", path, err)}
	}
	switch version := versionNumber.FindString(out); version {
	case tested:
		return &finding{Check: name, Status: "ok", Detail: version + ", the version that Fermata was tested with"}
	case "":
		return &finding{Check: name, Status: "warn", Detail: fmt.Sprintf("%s tells no version; Fermata was tested with %s", path, tested)}
	default:
		return &finding{Check: name, Status: "warn", Detail: fmt.Sprintf("%s; Fermata was tested with %s, and these programs change: fermata doctor --agents tries it", version, tested)}
	}
}

// tellVersion asks a program for its version. Some programs write into the home folder even then, so the program gets
// a temporary one. If it fails there, tellVersion runs it with the user's own home: some programs can only be found
// through a file in it.
func tellVersion(ctx context.Context, path string) (string, error) {
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
	out, err := runVersion(ctx, path, env)
	if _, ended := errors.AsType[*exec.ExitError](err); ended && !errors.Is(err, context.DeadlineExceeded) {
		return runVersion(ctx, path, os.Environ())
	}
	return out, err
}

func runVersion(ctx context.Context, path string, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = env
	// Processes that the program starts may keep its output open.
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it took longer than %s: %w", versionPatience, ctx.Err())
	case errors.Is(err, exec.ErrWaitDelay) && len(out) > 0:
		err = nil
	}
	return string(out), err
}

// RehearseOptions select the agent program that `fermata doctor` checks.
type RehearseOptions struct {
	// Agent is the runner's name. Path is the path of its program.
	Agent, Path string
}

// Rehearsed is the result of one step that an agent program had to take.
type Rehearsed struct {
	// Step is stop, resume, defer or deny. Status is ok, warn, fail or skip.
	Step, Status, Detail string
	// Log is the output of the agent's run if the step failed.
	Log string
}

// tryAgents checks the installed programs one after another, because they are large.
func (d *diagnosis) tryAgents(ctx context.Context) error {
	if d.s.hooks.Rehearse == nil {
		return notBuilt("doctor --agents")
	}
	for _, a := range testedAgents {
		path, err := exec.LookPath(a.name)
		if err != nil {
			continue
		}
		steps, err := d.s.hooks.Rehearse(ctx, RehearseOptions{Agent: a.name, Path: path})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hint := "do not let " + a.name + " wait for people before this is mended: "
		if d.isTested(a.name) {
			hint += "its version is the tested one, so look at what it wrote, and for settings that an administrator manages"
		} else {
			hint += fmt.Sprintf("`npm install -g %s@%s` is what Fermata was tested with", a.pack, a.version)
		}
		for _, step := range steps {
			d.add(rehearsed(a.name, hint, step))
		}
		if err != nil {
			d.add(finding{Check: a.name, Status: "fail", Detail: "it could not be tried: " + err.Error()})
		}
	}
	return nil
}

// isTested reports whether the installed version of a program is the tested one.
func (d *diagnosis) isTested(name string) bool {
	return slices.ContainsFunc(d.findings, func(f finding) bool { return f.Check == name && f.Step == "" && f.Status == "ok" })
}

// mostLog is the largest number of lines of an agent's output in a finding.
const mostLog = 12

func rehearsed(agent, hint string, step Rehearsed) finding {
	f := finding{Check: agent, Step: step.Step, Status: step.Status, Detail: step.Detail}
	if step.Status == "fail" || step.Status == "warn" {
		f.Hint = hint
	}
	lines := strings.Split(strings.TrimSpace(step.Log), "\n")
	f.Log = strings.Join(lines[max(0, len(lines)-mostLog):], "\n")
	return f
}
