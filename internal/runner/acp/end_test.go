//go:build unix

package acp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	acpgo "github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/acp"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		does    string
		result  fermata.Result
		summary string
	}{
		{wantsLogin, fermata.ResultFailed, "wants a login"},
		{isNew, fermata.ResultFailed, "version 9 of the Agent Client Protocol"},
		{stops, fermata.ResultFailed, "max_tokens"},
		{overreaches, "", "true true"},
		// Without an Asker, nothing is permitted.
		{wantsAlways, "", "was refused"},
	}
	for _, tt := range tests {
		t.Run(tt.does, func(t *testing.T) {
			t.Parallel()
			fin, _ := play(t, standInOptions(t, tt.does, 10*time.Second, sessionsEnv+"="+t.TempDir()))
			if fin.Result != tt.result || !strings.Contains(fin.Summary, tt.summary) {
				t.Errorf("got %q %q, want %q with %q", fin.Result, fin.Summary, tt.result, tt.summary)
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	t.Parallel()
	for program, summary := range map[string]string{"": "has no agent program", "no-such-program-here": "could not be started"} {
		o := acp.Options{}
		o.Program = program
		if fin, _ := play(t, o); fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, summary) {
			t.Errorf("got %q %q, want a failure with %q", fin.Result, fin.Summary, summary)
		}
	}
}

// A program that does not speak the protocol is a failure with the program's output.
func TestNoAgent(t *testing.T) {
	t.Parallel()
	o := acp.Options{}
	o.Program, o.ExtraArgs, o.Grace = "sh", []string{"-c", "echo usage: tool FILE; echo no such option >&2; exit 2"}, 10*time.Second
	fin, d := play(t, o)
	if fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "exit status 2") || !strings.Contains(fin.Summary, "no such option") {
		t.Errorf("got %q %q", fin.Result, fin.Summary)
	}
	if !strings.Contains(d.String(), "usage: tool FILE") {
		t.Errorf("the log is %q", d)
	}
}

// Without a sandbox, a program that is not known to ask before it acts is told nothing of the task.
func TestAnUnknownProgramIsNotTrusted(t *testing.T) {
	t.Parallel()
	o := standInOptions(t, stops, 10*time.Second)
	o.AllowUnknown = false
	fin, d := play(t, o)
	if fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "--isolate") || !strings.Contains(fin.Summary, "--allow-unknown-agent") {
		t.Errorf("got %q %q", fin.Result, fin.Summary)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "began.json")); !os.IsNotExist(err) {
		t.Errorf("a session began: %v", err)
	}
}

// The agent gets Fermata's tools, for its task and with its own token.
func TestTools(t *testing.T) {
	t.Parallel()
	o := standInOptions(t, stops, 10*time.Second)
	o.Fermata, o.URL, o.Token = "/usr/bin/fermata", "http://server", "fmt_agent"
	_, d := play(t, o)
	data, err := os.ReadFile(filepath.Join(d.dir, "began.json"))
	if err != nil {
		t.Fatal(err)
	}
	var began acpgo.NewSessionRequest
	if err := json.Unmarshal(data, &began); err != nil {
		t.Fatal(err)
	}
	if began.Cwd != d.dir || len(began.McpServers) != 1 || began.McpServers[0].Stdio == nil {
		t.Fatalf("the session began with %s", data)
	}
	server := began.McpServers[0].Stdio
	env := map[string]string{}
	for _, v := range server.Env {
		env[v.Name] = v.Value
	}
	if server.Name != "fermata" || server.Command != "/usr/bin/fermata" || strings.Join(server.Args, " ") != "mcp --ask-tool ask_person" ||
		env["FERMATA_URL"] != "http://server" || env["FERMATA_TOKEN"] != "fmt_agent" || env["FERMATA_TASK"] != "task_1" || env["FERMATA_RUN"] != "run_1" {
		t.Errorf("the tools are %s", data)
	}
}

// play runs an agent to its end.
func play(t *testing.T, o acp.Options) (fermata.Finish, *handle) {
	t.Helper()
	return playAt(t, o, &handle{dir: t.TempDir()})
}

// playAt runs an agent with the given handle to its end.
func playAt(t *testing.T, o acp.Options, d *handle) (fermata.Finish, *handle) {
	t.Helper()
	fin, err := acp.New(o).Run(patience.Context(t), &fermata.Claim{
		Task: &fermata.Task{ID: "task_1", Title: "Paint", Body: push}, Run: &fermata.Run{ID: "run_1", Attempt: 1},
	}, d)
	if err != nil {
		t.Fatal(err)
	}
	return fin, d
}

type handle struct {
	dir   string
	inbox chan *fermata.ResumeContext
	mu    sync.Mutex
	log   bytes.Buffer
}

func (d *handle) Dir() string                          { return d.dir }
func (d *handle) Log() io.Writer                       { return d }
func (d *handle) Progress(fermata.Progress)            {}
func (d *handle) Inbox() <-chan *fermata.ResumeContext { return d.inbox }
func (d *handle) KeepSession(fermata.Session)          {}

func (d *handle) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}

func (d *handle) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}
