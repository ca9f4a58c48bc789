package acp

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// claimOf returns a claim of a task.
func claimOf() *fermata.Claim {
	return &fermata.Claim{Task: &fermata.Task{ID: "task_1"}, Run: &fermata.Run{ID: "run_1"}}
}

// No configuration of opencode lets it act without asking, and Fermata's rule for a tool always comes last.
func TestOpenCodeIsToldToAsk(t *testing.T) {
	t.Parallel()
	const ours = `{"*_*":"ask","fermata_*":"allow","bash":"ask","edit":"ask","webfetch":"ask","websearch":"ask","codesearch":"ask","external_directory":"ask","doom_loop":"ask","task":"deny"}`
	agents := func(build string) string {
		return `{"build":` + build + `,"plan":{"permission":` + ours + `}}`
	}
	tail := `,"default_agent":"build","experimental":{"continue_loop_on_deny":true},"mode":` + agents(`{"permission":`+ours+`}`) + ","
	for name, tt := range map[string]struct{ given, want string }{
		"nothing":       {``, `{"agent":` + agents(`{"permission":`+ours+`}`) + tail + `"permission":` + ours + `}`},
		"one word":      {`{"permission":"allow"}`, `{"agent":` + agents(`{"permission":`+ours+`}`) + tail + `"permission":` + `{"*":"allow",` + ours[1:] + `}`},
		"tools":         {`{"permission":{"bash":{"*":"allow"},"read":{"*.key":"deny"},"*":"allow"}}`, `{"agent":` + agents(`{"permission":`+ours+`}`) + tail + `"permission":{"*":"allow","read":{"*.key":"deny"},` + ours[1:] + `}`},
		"an agent":      {`{"agent":{"build":{"model":"x","permission":{"bash":"allow"}}}}`, `{"agent":` + agents(`{"model":"x","permission":`+ours+`}`) + tail + `"permission":` + ours + `}`},
		"another agent": {`{"agent":{"mine":{"permission":"allow"}}}`, `"mine":{"permission":{"*":"allow",` + ours[1:] + `}`},
		"more":          {`{"model":"a/b"}`, `"model":"a/b"`},
	} {
		got, err := openCodeConfig(tt.given)
		if err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	for _, given := range []string{`[]`, `{"permission":7}`, `{"agent":[]}`, `{"agent":{"build":{"permission":[]}}}`} {
		if got, err := openCodeConfig(given); err == nil {
			t.Errorf("%s became %s", given, got)
		}
	}
}

// A permission in opencode's environment overrides every other one, so Fermata adds its rules there, too.
func TestEnvironmentAsks(t *testing.T) {
	t.Parallel()
	env, err := environ(agent.Options{SetEnv: []string{contentEnv + `={"model":"a/b"}`, permissionEnv + `={"bash":"allow"}`}}, claimOf())
	if err != nil {
		t.Fatal(err)
	}
	if got := lookUpEnv(env, contentEnv); !strings.Contains(got, `"model":"a/b"`) || !strings.Contains(got, `"bash":"ask"`) {
		t.Errorf("the configuration is %s", got)
	}
	if got := lookUpEnv(env, permissionEnv); !strings.Contains(got, `"bash":"ask"`) || strings.Contains(got, "allow\"") && !strings.Contains(got, `"fermata_*":"allow"`) {
		t.Errorf("the permission is %s", got)
	}
	if _, err := environ(agent.Options{SetEnv: []string{contentEnv + "=broken"}}, claimOf()); err == nil {
		t.Error("a broken configuration is passed on")
	}
}

// A program is not stopped for its own tools for plans and lists, about which it does not ask. If the program is not
// known, the same tool names mean nothing.
func TestWhatActs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent, id string
		call      call
		acts      bool
	}{
		{"", "", call{kind: "execute"}, true},
		{"", "", call{kind: "edit"}, true},
		{"", "", call{kind: "delete"}, true},
		{"", "", call{kind: "move"}, true},
		{"", "", call{kind: "fetch"}, true},
		{"", "", call{kind: "something new"}, true},
		{"", "", call{}, true},
		{"", "", call{kind: "read"}, false},
		{"", "", call{kind: "think"}, false},
		{"", "", call{kind: "search"}, false},
		{openCodeName, "", call{kind: "other", firstTitle: "todowrite"}, false},
		{"", "", call{kind: "other", firstTitle: "todowrite"}, true},
		{openCodeName, "", call{kind: "other", firstTitle: "db_drop"}, true},
		{openCodeName, "", call{kind: "other", firstTitle: "fermata_ask_person"}, false},
		{openCodeName, "", call{kind: "execute", firstTitle: "fermata_ask_person"}, true},
		{openCodeName, "", call{kind: "execute", firstTitle: "todowrite"}, true},
		{claudeName, "", call{kind: "other", firstTitle: "TodoWrite"}, true},
		{geminiName, "", call{kind: "other", firstTitle: "Set 2 todo(s)", titleOnly: true}, false},
		{geminiName, "", call{kind: "other", firstTitle: "Set 2 todo(s)"}, true},
		{geminiName, "write_todos-1764-1", call{kind: "other", firstTitle: "x"}, false},
		{geminiName, "write_todos-x", call{kind: "other", firstTitle: "x"}, true},
	} {
		if got := tt.call.isActing(tt.agent, tt.id); got != tt.acts {
			t.Errorf("%q %+v acts: %t", tt.agent, tt.call, got)
		}
	}
	for _, tt := range []struct {
		agent, text string
		want        bool
	}{
		{openCodeName, "The bash tool was called with invalid arguments: x", true},
		{openCodeName, "The user has specified a rule which prevents you", true},
		{openCodeName, "The command failed", false},
		{claudeName, "<tool_use_error>InputValidationError", true},
		{claudeName, "Exit code 1\n<tool_use_error>", false},
		{"", "<tool_use_error>", false},
	} {
		if got := isRefusal(tt.agent, tt.text); got != tt.want {
			t.Errorf("%s %q is a refusal: %t", tt.agent, tt.text, got)
		}
	}
}
