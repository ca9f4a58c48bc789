package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// at is a person's machine in a folder.
func at(t *testing.T) places {
	t.Helper()
	dir := t.TempDir()
	return places{home: filepath.Join(dir, "home"), dir: filepath.Join(dir, "project"), program: "fermata"}
}

// edited runs one file's edit.
func edited(t *testing.T, f configFile, content string, remove bool) string {
	t.Helper()
	out, err := f.edit([]byte(content), remove)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

const claudeSettings = `{
  "model": "opus",
  "permissions": {"allow": ["Bash(ls:*)"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "my-own hook claude-desk"}]}
    ],
    "Stop": [ ]
  }
}
`

const geminiSettings = `{
  // which model
  "model": { "name": "gemini-2.5-pro" }, /* the good one */
  "mcpServers": {
    "other": { "command": "other" },
  },
}
`

// TestInstallKeepsTheRest: what is written can be written again without a
// change, and taking it out leaves the very bytes that were there.
func TestInstallKeepsTheRest(t *testing.T) {
	t.Parallel()
	p := at(t)
	claude, gemini := p.claude().files, p.gemini().files
	codex, err := p.codex()
	if err != nil {
		t.Fatal(err)
	}
	both, err := p.opencode()
	if err != nil {
		t.Fatal(err)
	}
	opencode := both.files
	for name, tt := range map[string]struct {
		file   configFile
		before string
		parts  []string
	}{
		"claude settings":           {claude[1], claudeSettings, []string{"fermata hook claude || { echo", "exit 2", "PermissionRequest", "my-own hook", `"Stop": [ ]`}},
		"claude servers":            {claude[0], "{\"numStartups\":3,\"mcpServers\":{}}", []string{`"fermata": {`, `"alwaysLoad": true`, `"numStartups":3`}},
		"claude, nothing":           {claude[1], "", []string{"fermata hook claude"}},
		"gemini":                    {gemini[0], geminiSettings, []string{"// which model", "/* the good one */", "BeforeTool", "ask_person", `"timeout": 420000`, `"other": {`}},
		"a comment behind the last": {gemini[0], "{\n  \"a\": [1, 2], // two\n  \"b\": true // really\n}\n", []string{"// two", "// really", "BeforeTool"}},
		"opencode":                  {opencode[0], "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n", []string{`"type": "local"`, `"mcp"`}},
		"codex hooks":               {codex.files[1], "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n", []string{"fermata hook codex --wait 5m || {", "PermissionRequest"}},
		"codex":                     {codex.files[0], "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"other\" # keep\n", []string{"[mcp_servers.fermata]", "# keep", "tool_timeout_sec"}},
		"codex, no end":             {codex.files[0], "model = \"x\"", []string{"[mcp_servers.fermata]"}},
		"codex, nothing":            {codex.files[0], "", []string{"[mcp_servers.fermata]"}},
		"gemini, one line":          {gemini[0], "{}", []string{"BeforeTool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := edited(t, tt.file, tt.before, false)
			for _, part := range tt.parts {
				if !strings.Contains(with, part) {
					t.Errorf("there is no %q in\n%s", part, with)
				}
			}
			if again := edited(t, tt.file, with, false); again != with {
				t.Errorf("written again it is\n%s", again)
			}
			without := edited(t, tt.file, with, true)
			if strings.Contains(without, "fermata") {
				t.Errorf("something is left:\n%s", without)
			}
			if strings.TrimSpace(tt.before) == "" || tt.before == "{}" {
				if without != "" {
					t.Errorf("left over: %q", without)
				}
				return
			}
			if strings.Contains(tt.before, "// really") {
				// The line end before the last brace is not worth more.
				without = strings.Replace(without, "\n  }", "\n}", 1)
			}
			if normal(without) != normal(tt.before) {
				t.Errorf("taken out it is\n%s\nwas\n%s", without, tt.before)
			}
			if edited(t, tt.file, tt.before, true) != tt.before {
				t.Error("what was never written is not taken out")
			}
		})
	}
}

// normal is a text without the empty object that held Fermata's server alone,
// and with an end of line.
func normal(s string) string {
	return strings.TrimSpace(strings.Replace(s, `,"mcpServers":{}`, "", 1))
}

func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	p := at(t)
	codex, err := p.codex()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		file    configFile
		content string
		want    string
	}{
		"another server of the name":    {p.claude().files[0], `{"mcpServers":{"fermata":{"command":"npx","args":["x"]}}}`, "is there already"},
		"no JSON":                       {p.claude().files[1], `{"a":`, "is not JSON"},
		"a list":                        {p.claude().files[1], `[]`, "no JSON object"},
		"hooks that are none":           {p.claude().files[1], `{"hooks":[]}`, "not what it should be"},
		"an event that is no list":      {p.claude().files[1], `{"hooks":{"PreToolUse":{}}}`, "no list"},
		"no TOML":                       {codex.files[0], "model = ", "is not TOML"},
		"another server of the name, 2": {codex.files[0], "[mcp_servers.fermata]\ncommand = \"x\"\n", "is there already"},
		"servers in one line":           {codex.files[0], "mcp_servers = { other = { command = \"x\" } }\n", "nothing can be added"},
		"half a block":                  {codex.files[0], blockBegin + "\n", "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := tt.file.edit([]byte(tt.content), false)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %s", err, out)
			}
		})
	}
	if out := edited(t, p.claude().files[0], `{"mcpServers":{"fermata":{"command":"npx"}}}`, true); !strings.Contains(out, "npx") {
		t.Errorf("what somebody else wrote was removed: %s", out)
	}
}

func TestProgramsAreQuoted(t *testing.T) {
	t.Parallel()
	p := places{program: "/opt/my tools/fermata"}
	line := p.hook("codex")
	if !strings.HasPrefix(line, "'/opt/my tools/fermata' hook codex || ") {
		t.Error(line)
	}
	if !isOwnHook([]byte(`{"hooks":[{"type":"command","command":` + quoteJSON(line) + `}]}`)) {
		t.Errorf("%s is not known again", line)
	}
}

func quoteJSON(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

func TestReplacedFilesKeepTheirMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "settings.json")
	if err := replaceFile(path, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte("b")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestInstallsWholeOrNot: where one of a program's files cannot be read, none
// is written; an agent that asks but is not gated looks set up.
func TestInstallsWholeOrNot(t *testing.T) {
	t.Parallel()
	p := at(t)
	settings := filepath.Join(p.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := p.claude().files
	if edits, err := (&installCommand{}).edits(&installation{files: files}); err == nil || len(edits) != 0 {
		t.Errorf("edits = %d, %v; want none and an error", len(edits), err)
	}
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	edits, err := (&installCommand{}).edits(&installation{files: files})
	if err != nil || len(edits) != 2 {
		t.Errorf("edits = %d, %v; want both files", len(edits), err)
	}
}

// TestWholeFilesOfOthersStay: a plugin of the same name that somebody else wrote is
// neither replaced nor removed.
func TestWholeFilesOfOthersStay(t *testing.T) {
	t.Parallel()
	plan, err := at(t).opencode()
	if err != nil {
		t.Fatal(err)
	}
	gate := plan.files[1]
	const other = "// mine\n"
	if _, err := gate.edit([]byte(other), false); err == nil {
		t.Error("another's plugin was replaced")
	}
	if got := edited(t, gate, other, true); got != other {
		t.Errorf("another's plugin became %q", got)
	}
	if got := edited(t, gate, edited(t, gate, "", false), true); got != "" {
		t.Errorf("the own plugin became %q", got)
	}
}
