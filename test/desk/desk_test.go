// Package desk_test runs real agent programs with the configuration that
// `fermata install` writes, on a real server. Rules allow or deny a tool, and
// without the server no tool runs.
package desk_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { agent.Main(m) }

// desk is a person's machine with a server and an agent program.
type desk struct {
	*testing.T
	room   *agent.Room
	server *process.Server
	person *client.Client
	env    agent.Env
}

// newDesk starts a server and creates a desk. The model calls the tool once for
// each input, and then says that it is done.
func newDesk(t *testing.T, tool string, inputs ...any) *desk {
	t.Helper()
	var script scriptedmodel.Script
	for i, input := range inputs {
		script.Rules = append(script.Rules, scriptedmodel.Rule{
			Name: "call", When: scriptedmodel.When{Turn: &i}, Reply: []scriptedmodel.Part{scriptedmodel.Call(tool, input)},
		})
	}
	return newScriptedDesk(t, script)
}

// newScriptedDesk starts a server and creates a desk. The model plays the script. Where the
// script has no reply, the model says that it is done.
func newScriptedDesk(t *testing.T, script scriptedmodel.Script) *desk {
	t.Helper()
	script.Fallback = scriptedmodel.Say("I am done.")
	d := &desk{T: t, room: agent.NewRoom(t, script)}
	d.server = process.Serve(t, agent.Fermata(t), []string{"--data", t.TempDir()})
	var err error
	if d.person, err = client.New(d.server.URL, d.server.FirstToken); err != nil {
		t.Fatal(err)
	}
	return d
}

// install runs `fermata install` in the room, with an agent's token.
func (d *desk) install(program string, env agent.Env) {
	d.Helper()
	token, err := d.person.CreateToken(d.Context(), fermata.NewToken{Name: "desk", Scopes: []fermata.Scope{fermata.ScopeAsk}})
	if err != nil {
		d.Fatal(err)
	}
	d.env = slices.Concat(env, agent.Env{"FERMATA_URL=" + d.server.URL, "FERMATA_TOKEN=" + token.Secret})
	d.run(agent.Fermata(d), "login")
	d.run(agent.Fermata(d), "install", program)
}

func (d *desk) rule(n fermata.NewGateRule) {
	d.Helper()
	if _, err := d.person.AddGateRule(d.Context(), n); err != nil {
		d.Fatal(err)
	}
}

// run runs a program in the room to its end.
func (d *desk) run(program string, args ...string) string {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), patience.Limit())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = d.room.Work, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// exists reports whether a file is in the agent's working folder.
func (d *desk) exists(name string) bool {
	_, err := os.Stat(filepath.Join(d.room.Work, name))
	return err == nil
}

// results returns the conversation of the last request to the model, with the results of its calls.
func (d *desk) results() string {
	requests := d.room.Model.Requests()
	return requests[len(requests)-1].Conversation.Text()
}

func shell(command string) map[string]string { return map[string]string{"command": command} }

// rules adds the gate rules of the tests: one command is allowed, another is denied.
func (d *desk) rules() { d.rulesOf("Bash") }

// rulesOf adds the same rules for a shell tool with another name.
func (d *desk) rulesOf(tool string) {
	d.Helper()
	d.rule(fermata.NewGateRule{Tool: tool, Args: map[string]string{"command": "touch allowed*"}, Decision: fermata.GateAllow})
	d.rule(fermata.NewGateRule{Tool: tool, Args: map[string]string{"command": "touch denied*"}, Decision: fermata.GateDeny, Reason: "it is denied"})
}

// checkGated checks which commands ran, what the model was told, and the recorded decisions.
func (d *desk) checkGated() {
	d.Helper()
	if !d.exists("allowed") {
		d.Error("the allowed command did not run")
	}
	if d.exists("denied") || d.exists("denied2") {
		d.Error("the denied command ran")
	}
	if !strings.Contains(d.results(), "it is denied") {
		d.Errorf("the model was not told why:\n%s", d.results())
	}
	events, _, err := d.person.Events(d.Context(), client.EventQuery{Types: []fermata.EventType{fermata.EventGateDecided}})
	if err != nil || len(events) != 2 {
		d.Errorf("%d decisions are recorded, want 2: %v", len(events), err)
	}
}

var claudeFlags = []string{"-p", "go", "--output-format", "json", "--allowedTools", "Bash"}

func TestClaudeIsGated(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "Bash", shell("touch allowed"), shell("touch denied"), shell("true && touch denied2; touch denied2"))
	d.install("claude", d.room.Claude(t))
	d.rules()
	d.run(agent.Program(t, "claude"), claudeFlags...)
	d.checkGated()
}

func TestClaudeRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "Bash", shell("touch allowed"))
	d.install("claude", d.room.Claude(t))
	d.rules()
	d.server.Stop()
	d.run(agent.Program(t, "claude"), claudeFlags...)
	if d.exists("allowed") {
		t.Error("a tool ran without the server")
	}
	if !strings.Contains(d.results(), "may not run") {
		t.Errorf("the model was not told why:\n%s", d.results())
	}
}

// TestClaudeDialogIsMirrored checks that a permission dialog of Claude Code is
// also a question in the inbox. An approval there lets the call run.
func TestClaudeDialogIsMirrored(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "Bash", shell("touch asked"), shell("touch refused"))
	d.install("claude", d.room.Claude(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.decide(fermata.Approve)
		d.decide(fermata.Reject)
	}()
	d.run(agent.Program(t, "claude"), slices.Concat(claudeFlags[:4], []string{"--permission-mode", "default"})...)
	patience.Receive(t, "both are decided", done)
	if !d.exists("asked") || d.exists("refused") {
		t.Errorf("asked ran: %v, refused ran: %v\n%s", d.exists("asked"), d.exists("refused"), d.results())
	}
	if !strings.Contains(d.results(), "rejected this call") {
		t.Errorf("the model was not told who rejected:\n%s", d.results())
	}
}

// decide waits for the next question in the inbox and decides it.
func (d *desk) decide(how string) {
	ctx, cancel := context.WithTimeout(d.Context(), patience.Limit())
	defer cancel()
	var q *fermata.Question
	err := d.person.Stream(ctx, client.StreamQuery{Types: []fermata.EventType{fermata.EventQuestionAsked}, FromStart: true}, func(e *fermata.Event) error {
		asked, err := d.person.Question(ctx, e.QuestionID)
		if err != nil || asked.Status != fermata.Pending {
			return err
		}
		q = asked
		return context.Canceled
	})
	if q == nil {
		d.Errorf("nothing was asked: %v", err)
		return
	}
	if _, err := d.person.Answer(ctx, q.ID, fermata.Answer{Answer: how, ActionHash: q.ActionHash}); err != nil {
		d.Errorf("answer %s: %v", q.ID, err)
	}
}

var codexFlags = []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"}

func TestCodexIsGated(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "exec_command", map[string]string{"cmd": "touch allowed"}, map[string]string{"cmd": "touch denied"}, map[string]string{"cmd": "true && touch denied2; touch denied2"})
	d.install("codex", d.room.Codex(t))
	d.rules()
	d.run(agent.Program(t, "codex"), codexFlags...)
	d.checkGated()
}

func TestCodexRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "exec_command", map[string]string{"cmd": "touch allowed"})
	d.install("codex", d.room.Codex(t))
	d.rules()
	d.server.Stop()
	d.run(agent.Program(t, "codex"), codexFlags...)
	if d.exists("allowed") {
		t.Error("a tool ran without the server")
	}
}

// TestInstallLeavesNothing checks that install with --remove restores the
// configuration file as it was before.
func TestInstallLeavesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "none")
	env := d.room.Codex(t)
	path := filepath.Join(d.room.Home, ".codex", "config.toml")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d.install("codex", env)
	d.run(agent.Fermata(t), "install", "codex", "--remove")
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("%v\n%s", err, after)
	}
	if _, err := os.Stat(filepath.Join(d.room.Home, ".codex", "hooks.json")); err == nil {
		t.Error("hooks.json is left")
	}
	copies, err := filepath.Glob(path + ".backup-*")
	if err != nil || len(copies) != 0 {
		t.Errorf("copies are left: %v, %v", copies, err)
	}
	var whole any
	d.run(agent.Fermata(t), "install", "gemini")
	data, err := os.ReadFile(filepath.Join(d.room.Home, ".gemini", "settings.json"))
	if err != nil || json.Unmarshal(data, &whole) != nil {
		t.Errorf("%v\n%s", err, data)
	}
}

// After install, an agent asks without a permission dialog. When the conversation
// continues, the hook tells the agent the answer that came meanwhile.
func TestClaudeAsksAtTheDesk(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "mcp__fermata__ask_user", map[string]any{"question": "Which colour?", "options": []string{"green", "red"}})
	d.install("claude", d.room.Claude(t))
	session := "6f2a9d0e-6c1c-4f7e-9d57-0c6f4f0b7a11"
	d.run(agent.Program(t, "claude"), "-p", "go", "--session-id", session)
	list, _, err := d.person.Questions(d.Context(), client.QuestionQuery{Status: fermata.Pending})
	if err != nil || len(list) != 1 || list[0].Title != "Which colour?" {
		t.Fatalf("asked %v %v\n%s", list, err, d.results())
	}
	if s := d.results(); strings.Contains(s, "You will be resumed") || !strings.Contains(s, "check_answer") {
		t.Errorf("the model was told\n%s", s)
	}
	if _, err := d.person.Answer(d.Context(), list[0].ID, fermata.Answer{Answer: "as blue as the sea"}); err != nil {
		t.Fatal(err)
	}
	d.run(agent.Program(t, "claude"), "-p", "--resume", session, "go on")
	if s := d.results(); !strings.Contains(s, "as blue as the sea") {
		t.Errorf("the model was not told the answer:\n%s", s)
	}
}
