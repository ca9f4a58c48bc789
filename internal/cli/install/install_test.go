package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newInstallTarget returns the install target of a person's machine inside a temporary folder.
func newInstallTarget(t *testing.T) target {
	t.Helper()
	dir := t.TempDir()
	return target{
		home: filepath.Join(dir, "home"), dir: filepath.Join(dir, "project"), program: "fermata",
		server: []string{"--server", "http://127.0.0.1:7433", "--token-file", "/home/ana/my config/login.json"},
	}
}

// applyEdit returns the content of a file after its edit.
func applyEdit(t *testing.T, f configFile, content string, remove bool) string {
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
    "Notification": [ ]
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

// TestInstallKeepsTheRest checks that a second install changes nothing, and that removing restores the exact bytes.
func TestInstallKeepsTheRest(t *testing.T) {
	t.Parallel()
	p := newInstallTarget(t)
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
		"claude settings":           {claude[1], claudeSettings, []string{"fermata hook claude --server 'http://127.0.0.1:7433' --token-file '/home/ana/my config/login.json' || { echo", "exit 2", "PermissionRequest", "my-own hook", `"Notification": [ ]`, `"Bash(ls:*)"`, `"mcp__fermata__ask_user"`, `"mcp__fermata__check_answer"`, "login.json' --wake\"", `"asyncRewake": true`, `"timeout": 604800`}},
		"claude servers":            {claude[0], "{\"numStartups\":3,\"mcpServers\":{}}", []string{`"fermata": {`, `"alwaysLoad": true`, `"numStartups":3`}},
		"claude, nothing":           {claude[1], "", []string{"fermata hook claude"}},
		"gemini":                    {gemini[0], geminiSettings, []string{"// which model", "/* the good one */", "BeforeTool", "ask_person", `"trust": true`, `"includeTools"`, `"timeout": 420000`, `"other": {`}},
		"a comment behind the last": {gemini[0], "{\n  \"a\": [1, 2], // two\n  \"b\": true // really\n}\n", []string{"// two", "// really", "BeforeTool"}},
		"opencode":                  {opencode[0], "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n", []string{`"type": "local"`, `"mcp"`}},
		"codex hooks":               {codex.files[1], "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n", []string{"login.json' --wait 5m || {", "PermissionRequest"}},
		"codex":                     {codex.files[0], "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"other\" # keep\n", []string{"[mcp_servers.fermata]", "# keep", "tool_timeout_sec"}},
		"codex, nothing":            {codex.files[0], "", []string{"[mcp_servers.fermata]"}},
		"gemini, one line":          {gemini[0], "{}", []string{"BeforeTool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := applyEdit(t, tt.file, tt.before, false)
			for _, part := range tt.parts {
				if !strings.Contains(with, part) {
					t.Errorf("there is no %q in\n%s", part, with)
				}
			}
			if again := applyEdit(t, tt.file, with, false); again != with {
				t.Errorf("written again it is\n%s", again)
			}
			without := applyEdit(t, tt.file, with, true)
			if strings.Contains(without, "fermata") {
				t.Errorf("something is left:\n%s", without)
			}
			if without != tt.before {
				t.Errorf("taken out it is\n%q\nwas\n%q", without, tt.before)
			}
			if applyEdit(t, tt.file, tt.before, true) != tt.before {
				t.Error("what was never written is not taken out")
			}
		})
	}
}

// install prints the exact names of the tools that run without a dialog.
func TestInstallSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	p := newInstallTarget(t)
	for program, i := range map[string]*installation{"mcp__fermata__ask_user": p.claude(), "ask_person": p.gemini()} {
		said := strings.Join(i.notes, "\n")
		if !strings.Contains(said, "allowed without a dialog, and nothing else: ") || !strings.Contains(said, program) {
			t.Errorf("it says %q, want the tool %s", said, program)
		}
	}
}

// otherJSON holds texts as people and programs write them.
var otherJSON = []string{
	"{}", "{}\n", "{ }\n", `{"a":1}`, "{ \"a\": 1 }\n", "{\n  \"a\": 1\n}", "{\n\t\"a\": 1\n}\n", "{\r\n  \"a\": 1\r\n}\r\n",
	"{\n    \"a\": 1,\n    \"b\": [1, 2]\n}\n", "{\"a\": \"é \\u00e9 / <b>\"}\n",
	"{\n  \"a\": 1, // c\n}\n", "{\n  \"a\": 1 // c\n}\n", "{\n  \"a\": 1\n  // last\n}\n", "{\n  \"a\": 1,\n  /* last */\n}\n",
	"{\n  // only a comment\n}\n", "// top\n{\n  \"a\": 1\n}\n// end\n",
	"{\"mcpServers\":{},\"hooks\":{},\"mcp\":{}}\n", "{\n  \"mcpServers\": {},\n  \"hooks\": {\"PreToolUse\": [], \"BeforeTool\": []},\n  \"mcp\": {}\n}\n",
	"{\n}\n", "{\n\n}\n", "{\n  \"hooks\": {\n  }\n}\n", "{\r\n  \"hooks\": {\r\n  },\r\n  \"mcpServers\": {\r\n  }\r\n}\r\n", "{\n  \"mcp\": {\n  },\n  \"mcpServers\": {\n\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ],\n    \"BeforeTool\": [\n\n    ]\n  }\n}\n", "{\n  \"permissions\": {\n    \"allow\": [\n    ]\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\"}\n    ],\n    \"BeforeTool\": [\n      {\"matcher\": \"Bash\"}, // mine\n    ]\n  },\n  \"z\": 1\n}\n",
	"{\n\t\"mcpServers\": {\n\t\t\"o\": {\"command\": \"o\"}\n\t},\n\t\"mcp\": {\n\t\t\"o\": {\"command\": [\"o\"]}\n\t}\n}\n",
}

// jsonFiles returns the JSON files that install edits.
func jsonFiles(t *testing.T) map[string]configFile {
	t.Helper()
	p := newInstallTarget(t)
	codex, err := p.codex()
	if err != nil {
		t.Fatal(err)
	}
	opencode, err := p.opencode()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]configFile{
		"claude settings": p.claude().files[1], "claude servers": p.claude().files[0], "gemini": p.gemini().files[0],
		"opencode": opencode.files[0], "codex hooks": codex.files[1],
	}
}

func TestInstallIsTakenOutToTheByte(t *testing.T) {
	t.Parallel()
	for name, f := range jsonFiles(t) {
		for _, before := range otherJSON {
			with := applyEdit(t, f, before, false)
			if again := applyEdit(t, f, with, false); again != with {
				t.Errorf("%s, written again, is\n%s\nwas\n%s", name, again, with)
			}
			if without := applyEdit(t, f, with, true); without != before {
				t.Errorf("%s, taken out of\n%s\nis\n%q\nwas\n%q", name, with, without, before)
			}
		}
	}
}

// TestInstallKeepsWhatPeopleAdd checks that the next install keeps a person's changes in Fermata's part, and the text
// after it.
func TestInstallKeepsWhatPeopleAdd(t *testing.T) {
	t.Parallel()
	files := jsonFiles(t)
	for name, tt := range map[string]struct{ file, from, to string }{
		"a token":         {"claude servers", `"alwaysLoad": true`, `"alwaysLoad": true, "env": {"FERMATA_TOKEN": "fmt_x"}`},
		"a longer wait":   {"opencode", `"timeout": 600000`, `"timeout": 900000`},
		"switched off":    {"opencode", `"enabled": true`, `"enabled": false`},
		"a stricter gate": {"claude settings", "login.json' ||", "login.json' --strict ||"},
		"another server":  {"gemini", "\n  },\n  \"hooks\"", ",\n    \"other\": {\"command\": \"o\"}\n  },\n  \"hooks\""},
	} {
		with := applyEdit(t, files[tt.file], "", false)
		changed := strings.Replace(with, tt.from, tt.to, 1)
		if changed == with {
			t.Fatalf("%s: there is no %q in\n%s", name, tt.from, with)
		}
		if again := applyEdit(t, files[tt.file], changed, false); again != changed {
			t.Errorf("%s is lost:\n%s", name, again)
		}
	}
}

// otherTOML holds texts as people and Codex write them.
var otherTOML = []string{
	"", "model = \"x\"", "model = \"x\"\n", "model = \"x\"\n\n", "model = \"x\"\r\n", "# mine\n[mcp_servers.other]\ncommand = \"other\" # keep\n",
	"[mcp_servers.fermatas]\ncommand = \"x\"\n", "[hooks.state]\n",
}

func TestInstallIsTakenOutOfTOMLToTheByte(t *testing.T) {
	t.Parallel()
	f := tomlFile("config.toml", "fermata", []string{"mcp"})
	for _, before := range otherTOML {
		with := applyEdit(t, f, before, false)
		if again := applyEdit(t, f, with, false); again != with || !strings.HasPrefix(with, before) {
			t.Errorf("written again it is\n%s\nwas\n%s", again, with)
		}
		for _, after := range []string{"", "[projects.\"/x\"]\ntrust_level = \"trusted\"\n"} {
			if without := applyEdit(t, f, with+after, true); without != before+after {
				t.Errorf("taken out of\n%s\nit is\n%q", with+after, without)
			}
		}
		// Codex writes the file without comments, and adds tables of its own.
		const other = "\n[mcp_servers.other2]\ncommand = \"o\"\nargs = [\"1\"]\n"
		codex := strings.NewReplacer(blockBegin+"\n", "", "# Asking may wait for a person.\n", "", "3600", "3600.0\n\n[mcp_servers.fermata.tools.ask_user]\napproval_mode = \"approve\"").Replace(with)
		codex = strings.Replace(codex, blockEnd, strings.TrimPrefix(other, "x")+blockEnd, 1)
		if again := applyEdit(t, f, codex, false); again != codex {
			t.Errorf("written again it is\n%s\nwas\n%s", again, codex)
		}
		if without := applyEdit(t, f, codex, true); without != before+other {
			t.Errorf("taken out of\n%s\nit is\n%q", codex, without)
		}
	}
}

// TestInstallRenewsTOML checks that install updates only how the server is started.
func TestInstallRenewsTOML(t *testing.T) {
	t.Parallel()
	for _, before := range otherTOML {
		old := applyEdit(t, tomlFile("config.toml", "/old/fermata", []string{"mcp"}), before, false)
		old = strings.Replace(old, "3600", "7200\nenv = { FERMATA_TOKEN = \"fmt_x\" }", 1)
		f := tomlFile("config.toml", "/new/fermata", []string{"mcp"})
		again := applyEdit(t, f, old, false)
		if want := strings.Replace(old, "/old/", "/new/", 1); again != want {
			t.Errorf("it is\n%s", again)
		}
		if without := applyEdit(t, f, again, true); without != before {
			t.Errorf("taken out it is %q, was %q", without, before)
		}
	}
}

// TestInstallRenews checks that install updates, in place, the part of an earlier version or of fermata in another
// place. It also removes a duplicate.
func TestInstallRenews(t *testing.T) {
	t.Parallel()
	files := jsonFiles(t)
	old := strings.ReplaceAll(applyEdit(t, files["claude settings"], "", false), "fermata hook", "/old/fermata hook")
	if again, want := applyEdit(t, files["claude settings"], old, false), applyEdit(t, files["claude settings"], "", false); again != want {
		t.Errorf("hooks are\n%s", again)
	}
	servers := applyEdit(t, files["claude servers"], "", false)
	if again := applyEdit(t, files["claude servers"], strings.Replace(servers, `"command": "fermata"`, `"command": "/old/fermata"`, 1), false); again != servers {
		t.Errorf("the server is\n%s", again)
	}
	const hook = `{"hooks":[{"type":"command","command":"fermata hook gemini"}]}`
	twice := applyEdit(t, files["gemini"], `{"hooks":{"BeforeTool":[`+hook+`,{"matcher":"mine"},`+hook+`]}}`, false)
	if strings.Count(twice, "hook gemini --server") != 1 || strings.Count(twice, "--wait 5m") != 1 || !strings.Contains(twice, `{"matcher":"mine"}`) {
		t.Errorf("hooks are\n%s", twice)
	}
}

// TestInstallKeepsFlags checks that install keeps a person's flags and timeout of a hook, and updates the server and
// the token.
func TestInstallKeepsFlags(t *testing.T) {
	t.Parallel()
	p := newInstallTarget(t)
	settings := p.claude().files[1]
	mine := strings.Replace(applyEdit(t, settings, "", false), "login.json' --wait 5m", "login.json' --wait 2m --strict", 1)
	mine = strings.Replace(mine, `"timeout": 420`, `"timeout": 500`, 1)
	if again := applyEdit(t, settings, mine, false); again != mine {
		t.Errorf("nothing had to be renewed, and it is\n%s", again)
	}
	for _, old := range []string{
		strings.ReplaceAll(mine, "7433", "7434"),
		strings.ReplaceAll(mine, "my config", "mine"),
		strings.ReplaceAll(mine, "fermata hook", "'/old place/fermata' hook"),
		strings.ReplaceAll(mine, " --server 'http://127.0.0.1:7433' --token-file '/home/ana/my config/login.json'", ""),
	} {
		if old == mine {
			t.Fatal("nothing is old")
		}
		if again := applyEdit(t, settings, old, false); again != mine {
			t.Errorf("renewed it is\n%s\nwas\n%s", again, old)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	p := newInstallTarget(t)
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
		"a server in one line":          {codex.files[0], "[mcp_servers]\nfermata = { command = \"/old/fermata\", args = [\"mcp\"] }\n", "cannot be changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := tt.file.edit([]byte(tt.content), false)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %s", err, out)
			}
		})
	}
	if out, err := codex.files[0].edit([]byte(applyEdit(t, codex.files[0], "", false)+"model = "), true); err == nil {
		t.Errorf("a file that cannot be read became %s", out)
	}
	if out := applyEdit(t, p.claude().files[0], `{"mcpServers":{"fermata":{"command":"npx"}}}`, true); !strings.Contains(out, "npx") {
		t.Errorf("what somebody else wrote was removed: %s", out)
	}
}

func TestProgramsAreQuoted(t *testing.T) {
	t.Parallel()
	p := target{program: "/opt/my tools/fermata"}
	line := p.gateHookLine("codex", "")
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

// TestInstallsWholeOrNot checks that install writes no file if it cannot read one of them. An agent that asks but has
// no gate would look completely set up.
func TestInstallsWholeOrNot(t *testing.T) {
	t.Parallel()
	p := newInstallTarget(t)
	settings := filepath.Join(p.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := p.claude().files
	if edits, err := (&Command{}).planEdits(&installation{files: files}); err == nil || len(edits) != 0 {
		t.Errorf("edits = %d, %v; want none and an error", len(edits), err)
	}
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	edits, err := (&Command{}).planEdits(&installation{files: files})
	if err != nil || len(edits) != 2 {
		t.Errorf("edits = %d, %v; want both files", len(edits), err)
	}
}

// TestWholeFilesOfOthersStay checks that install neither replaces nor removes a plugin with the same name by another
// author.
func TestWholeFilesOfOthersStay(t *testing.T) {
	t.Parallel()
	plan, err := newInstallTarget(t).opencode()
	if err != nil {
		t.Fatal(err)
	}
	gate := plan.files[1]
	const other = "// mine\n"
	if _, err := gate.edit([]byte(other), false); err == nil {
		t.Error("another's plugin was replaced")
	}
	if got := applyEdit(t, gate, other, true); got != other {
		t.Errorf("another's plugin became %q", got)
	}
	if got := applyEdit(t, gate, applyEdit(t, gate, "", false), true); got != "" {
		t.Errorf("the own plugin became %q", got)
	}
}

// The MCP server uses the server that was named, as the hooks do. Installing for another server, or for the one of the
// login again, renews the entry, and removing leaves nothing of it.
func TestInstallNamesTheServerOfTheMCPServer(t *testing.T) {
	t.Parallel()
	at := newInstallTarget(t)
	other := at
	other.url = "https://fermata.example"
	codex, err := at.codex()
	if err != nil {
		t.Fatal(err)
	}
	otherCodex, err := other.codex()
	if err != nil {
		t.Fatal(err)
	}
	opencode, err := at.opencode()
	if err != nil {
		t.Fatal(err)
	}
	otherOpencode, err := other.opencode()
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][2]configFile{
		"claude": {at.claude().files[0], other.claude().files[0]}, "codex": {codex.files[0], otherCodex.files[0]},
		"gemini": {at.gemini().files[0], other.gemini().files[0]}, "opencode": {opencode.files[0], otherOpencode.files[0]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := applyEdit(t, files[0], "", false)
			named := applyEdit(t, files[1], plain, false)
			if strings.Contains(plain, "--url") || !strings.Contains(strings.Join(strings.Fields(named), " "), `"--url", "https://fermata.example"`) {
				t.Errorf("it is\n%s\nand with the address\n%s", plain, named)
			}
			if again := applyEdit(t, files[1], named, false); again != named {
				t.Errorf("a second time it is\n%s", again)
			}
			if back := applyEdit(t, files[0], named, false); back != plain {
				t.Errorf("without the address it is\n%s", back)
			}
			if left := applyEdit(t, files[0], named, true); strings.Contains(left, "fermata") {
				t.Errorf("left behind\n%s", left)
			}
		})
	}
}
