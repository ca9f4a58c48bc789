package fermata_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// wordShell reads a command line as one command for each part between semicolons.
func wordShell(command string) fermata.ShellLine {
	var parts []string
	var calls [][]string
	for part := range strings.SplitSeq(command, ";") {
		parts, calls = append(parts, strings.TrimSpace(part)), append(calls, strings.Fields(part))
	}
	return fermata.ShellLine{Plain: len(parts) == 1, Commands: parts, Calls: calls}
}

// TestProtectedGitFiles checks that a call that writes files that control git needs a question, whatever rule or
// policy allows its tool.
func TestProtectedGitFiles(t *testing.T) {
	t.Parallel()
	all := gateRule("all", fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow})
	for name, tt := range map[string]struct {
		tool, input string
		asks        bool
	}{
		"a file":                    {"Write", `{"file_path":"/w/.git","content":"gitdir: x"}`, true},
		"the configuration":         {"Edit", `{"file_path":".git/config"}`, true},
		"attributes":                {"write_file", `{"file_path":"a/.gitattributes"}`, true},
		"another case":              {"Write", `{"filePath":"a/.GIT/hooks/pre-commit"}`, true},
		"invisible":                 {"Write", `{"path":".g\u200cit/config"}`, true},
		"by way of":                 {"Write", `{"path":"src/../.git/config"}`, true},
		"backwards":                 {"Write", `{"path":"C:\\w\\.git\\config"}`, true},
		"a short name":              {"Write", `{"path":"GIT~1/config"}`, true},
		"hooks of people":           {"Write", `{"path":".husky/pre-commit"}`, true},
		"a bare repository":         {"Write", `{"path":"/srv/shop.git/hooks/update"}`, true},
		"one of several":            {"MultiEdit", `{"edits":[{"path":"a"},{"path":".gitmodules"}]}`, true},
		"a patch":                   {"apply_patch", `{"input":"*** Begin Patch\n*** Update File: .git/config\n+x"}`, true},
		"a patch as a command":      {"shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: .gitattributes\n+x"]}`, true},
		"a move":                    {"move", `{"source":"x","destination":".git/hooks/pre-push"}`, true},
		"git config":                {"Bash", `{"command":"git -C sub config core.fsmonitor x"}`, true},
		"a copy":                    {"Bash", `{"command":"ls; cp x .git/hooks/pre-commit"}`, true},
		"the worker's own git":      {"Write", `{"file_path":"../.git-state/copies/task_1/config"}`, true},
		"dd":                        {"Bash", `{"command":"dd if=x of=.git/config"}`, true},
		"git moves":                 {"Bash", `{"command":"git mv x .gitattributes"}`, true},
		"git takes from elsewhere":  {"Bash", `{"command":"git -C sub checkout b -- .gitattributes"}`, true},
		"git restores":              {"Bash", `{"command":"git restore -s b .gitmodules"}`, true},
		"a pattern":                 {"Bash", `{"command":"cd .g?t; cp x config"}`, true},
		"in the folder":             {"shell", `{"command":["cp","x","hooks/pre-commit"],"workdir":".git"}`, true},
		"from the folder":           {"Write", `{"path":"config","cwd":"/w/.git"}`, true},
		"as an argument list":       {"exec", `{"argv":["cp","x",".git/config"]}`, true},
		"Gemini's folder":           {"run_shell_command", `{"command":"cp ../cfg config","dir_path":".git"}`, true},
		"Gemini's former folder":    {"run_shell_command", `{"command":"cp ../cfg config","directory":".git"}`, true},
		"another name of a folder":  {"shell", `{"command":"cp ../cfg config","working-directory":"/w/.git"}`, true},
		"a folder to make":          {"create_directory", `{"dir_path":".git/hooks"}`, true},
		"a file of a bare one":      {"Write", `{"path":"config","cwd":"/srv/shop.git"}`, true},
		"a hook by its name":        {"Write", `{"file_path":"/w/p/x/hooks/post-checkout"}`, true},
		"a hook by a command":       {"Bash", `{"command":"cp x hooks/pre-commit"}`, true},
		"an environment":            {"exec", `{"cmd":"git fetch","env":{"GIT_SSH_COMMAND":"touch x"}}`, true},
		"git's global settings":     {"Write", `{"file_path":"/home/ada/.config/git/config"}`, true},
		"git's global attributes":   {"Write", `{"file_path":"~/.config/git/attributes"}`, true},
		"git's folder elsewhere":    {"Write", `{"file_path":"/srv/xdg/git/config"}`, true},
		"from the folder above":     {"Write", `{"path":"git/config","cwd":"/home/ada/.config"}`, true},
		"git's settings for all":    {"Write", `{"file_path":"/usr/local/etc/gitconfig"}`, true},
		"attributes for all":        {"Write", `{"file_path":"/etc/gitattributes"}`, true},
		"a stream of NTFS":          {"Write", `{"file_path":".git::$INDEX_ALLOCATION/config"}`, true},
		"a program and its words":   {"mcp__sh__run", `{"command":"git","args":["config","a.b","c"]}`, true},
		"a program by another name": {"mcp__sh__run", `{"program":"git","arguments":["config","a.b","c"]}`, true},
		"words in one text":         {"mcp__sh__run", `{"executable":"git","args":"config a.b c"}`, true},
		"a beginning and its words": {"mcp__sh__run", `{"cmd":"git -C x","params":["config","a.b","c"]}`, true},
		"words with the program":    {"mcp__sh__run", `{"args":["git","config","a.b","c"]}`, true},
		"deeper words":              {"mcp__sh__run", `{"jobs":[{"command":"git","args":["config","a.b","c"]}]}`, true},
		"words of a copy":           {"mcp__sh__run", `{"command":"cp","args":["x",".git/config"]}`, true},
		"a tool for git":            {"mcp__git__run", `{"args":["config","a.b","c"]}`, true},
		"a tool for git's settings": {"mcp__git__git_config_set", `{"key":"a.b","value":"c"}`, true},
		"a path as a name":          {"mcp__fs__write", `{"files":{".git/config":"x"}}`, true},
		"a path as a deeper name":   {"mcp__fs__run", `{"batch":[{"a/.gitattributes":{"text":"x"}}]}`, true},
		"a file of a list":          {"mcp__fs__write", `{"files":[{"p":".git/config"}]}`, true},
		"a folder and a name":       {"mcp__fs__write", `{"base":"/work/p/.git","name":"config"}`, true},
		"two halves":                {"mcp__fs__write", `{"base":"/srv/shop.git","name":"hooks/update"}`, true},
		"a bare one and a name":     {"mcp__fs__write", `{"repo":"/srv/shop.git","entry":"config"}`, true},
		"parts in a list":           {"mcp__fs__write", `{"path":["/home/ada/.config","git","config"]}`, true},
		"any name":                  {"mcp__fs__write", `{"x":"/work/p/.git/config"}`, true},
		"an address":                {"mcp__fs__write", `{"uri":"file:///work/p/.git/config"}`, true},
		"another tool":              {"mcp__fs__op", `{"uri":"file:///work/p/.git/config"}`, true},
		"an encoded address":        {"Write", `{"file_path":"file:///work/p/%2egit/config"}`, true},
		"encoded in capitals":       {"Write", `{"file_path":"file:///work/p/%2E%67it%2Fconfig"}`, true},
		"encoded twice":             {"Write", `{"file_path":"file:///work/p/%252egit/config"}`, true},
		"behind it a query":         {"Write", `{"file_path":"file:///work/p/.gitattributes?x"}`, true},
		"behind it a fragment":      {"Write", `{"file_path":"file:///work/p/.gitattributes#x"}`, true},
		"a patch with spaces":       {"apply_patch", `{"input":"*** Begin Patch\n***  Update File:  .git/config\n+x"}`, true},
		"a patch without spaces":    {"apply_patch", `{"input":"*** Begin Patch\n***Update File:.gitattributes\n+x"}`, true},
		"a patch in small letters":  {"apply_patch", `{"input":"*** Begin Patch\n*** update\tfile: .gitattributes\n+x"}`, true},
		"a patch with a date":       {"apply_patch", `{"input":"--- a\n+++ .gitattributes\t2026-01-01\n+x"}`, true},
		"a patch with quotes":       {"apply_patch", `{"input":"--- a\n+++ \"b/.g\\151tattributes\"\n+x"}`, true},
		"a binary patch":            {"apply_patch", `{"input":"diff --git a/x b/.gitattributes\nGIT binary patch\n"}`, true},
		"a copy in a patch":         {"apply_patch", `{"input":"diff --git a/x b/y\ncopy from x\ncopy to .gitattributes\n"}`, true},
		"an index line":             {"apply_patch", `{"input":"Index: .gitattributes\n@@ -0,0 +1 @@\n+x"}`, true},
		"a context patch":           {"apply_patch", `{"input":"*** .gitattributes\n--- .gitattributes\n"}`, true},
		"git's ignored files":       {"Write", `{"file_path":"/home/ada/.config/git/ignore"}`, false},
		"another program's":         {"Write", `{"file_path":"/home/ada/.config/app/config"}`, false},
		"a package for git":         {"Write", `{"file_path":"internal/git/config.go"}`, false},
		"a package for settings":    {"Bash", `{"command":"go test ./internal/git/config"}`, false},
		"words that read":           {"mcp__sh__run", `{"command":"git","args":["config","--get","a.b"]}`, false},
		"words of another":          {"mcp__sh__run", `{"command":"make","args":["test"]}`, false},
		"a text that is replaced":   {"Edit", `{"file_path":"a.md","old_string":".git/config","new_string":".git"}`, false},
		"a tool that reads":         {"mcp__fs__read_file", `{"path":".git/config"}`, false},
		"a tool that searches":      {"mcp__fs__search", `{"root":".git","pattern":"x"}`, false},
		"a page of git":             {"WebFetch", `{"url":"https://host/shop.git/info"}`, false},
		"a task about it":           {"Task", `{"description":"git","prompt":"look at .git/config"}`, false},
		"a message about it":        {"mcp__chat__post", `{"channel":"c","text":".gitattributes"}`, false},
		"a tool that stages":        {"mcp__git__git_add", `{"repo_path":"/w","files":[".gitattributes"]}`, false},
		"words of a skill":          {"Skill", `{"skill":"x","args":"fix .git/config"}`, false},
		"a drive":                   {"Write", `{"file_path":"C:.git/config"}`, true},
		"a half percent":            {"Write", `{"file_path":"100%/a.txt"}`, false},
		"a hook of React":           {"Write", `{"file_path":"src/hooks/update.ts"}`, false},
		"another file in hooks":     {"Write", `{"file_path":"src/hooks/config"}`, false},
		"listing the folder":        {"list_directory", `{"dir_path":".git"}`, false},
		"looking from there":        {"run_shell_command", `{"command":"ls hooks","dir_path":".git"}`, false},
		"looking in the folder":     {"shell", `{"command":"ls hooks","workdir":".git"}`, false},
		"elsewhere":                 {"shell", `{"command":"cp x y","workdir":"sub"}`, false},
		"git stages":                {"Bash", `{"command":"git add .gitattributes"}`, false},
		"git takes another":         {"Bash", `{"command":"git checkout b -- main.go"}`, false},
		"hidden files of others":    {"Bash", `{"command":"rm .e*"}`, false},
		"reading it":                {"Read", `{"file_path":".gitattributes"}`, false},
		"looking at it":             {"Bash", `{"command":"cat .git/config"}`, false},
		"reading the configuration": {"Bash", `{"command":"git config --get user.name"}`, false},
		"a commit about it":         {"Bash", `{"command":"git commit -m config"}`, false},
		"ignored files":             {"Write", `{"file_path":".gitignore"}`, false},
		"a workflow":                {"Write", `{"file_path":".github/workflows/ci.yml"}`, false},
		"a text about it":           {"Write", `{"file_path":"docs/a.md","content":"see .git/config"}`, false},
		"a clone":                   {"Bash", `{"command":"git clone https://host/shop.git"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := fermata.GateCall{Tool: tt.tool, Input: json.RawMessage(tt.input)}
			policy := fermata.Policy{GateDefault: fermata.GateAllow}
			for _, rules := range [][]*fermata.GateRule{nil, {all}} {
				got := fermata.JudgeCall(&call, fermata.GateOrigin{}, rules, policy, wordShell, noon)
				if asks := got.Decision == fermata.GateAsk && got.Rule.ID == fermata.ProtectedRule; asks != tt.asks {
					t.Errorf("with %d rules: %s, %s", len(rules), got.Decision, got.Explain())
				}
			}
		})
	}
}

// TestProtectedFolderOfACall checks that the folder of a call counts as well, because relative paths begin there.
func TestProtectedFolderOfACall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call fermata.GateCall
		want string
	}{
		"a file in git's folder":   {fermata.GateCall{Tool: "Write", Input: []byte(`{"file_path":"config"}`), Dir: "/w/.git"}, fermata.ProtectedRule},
		"a command in it":          {fermata.GateCall{Tool: "Bash", Input: []byte(`{"command":"touch config"}`), Dir: "/w/.git"}, fermata.ProtectedRule},
		"settings of an agent":     {fermata.GateCall{Tool: "Write", Input: []byte(`{"file_path":"settings.json"}`), Dir: "/w/.claude"}, fermata.ProtectedAgentRule},
		"a file elsewhere":         {fermata.GateCall{Tool: "Write", Input: []byte(`{"file_path":"/w/a"}`), Dir: "/w/.git"}, ""},
		"a working copy of Claude": {fermata.GateCall{Tool: "Write", Input: []byte(`{"file_path":"a"}`), Dir: "/w/.claude/worktrees/fix"}, ""},
	} {
		all := gateRule("", fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow})
		if got := fermata.JudgeCall(&tt.call, fermata.GateOrigin{}, []*fermata.GateRule{all}, fermata.DefaultPolicy(), wordShell, noon); got.Rule == nil || got.Rule.ID != tt.want {
			t.Errorf("%s: %s by %s", name, got.Decision, got.Explain())
		}
	}
}

// TestPathsOfACall checks that the paths of a call come from its arguments and its patch, but not from a text that
// looks like a patch.
func TestPathsOfACall(t *testing.T) {
	t.Parallel()
	for input, want := range map[string][]string{
		`{"file_path":"a","content":"--- b\n+++ c"}`:                                               {"a"},
		`{"edits":[{"path":"a"},{"path":"b"}]}`:                                                    {"a", "b"},
		`{"patchText":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c"}`: {"a", "b", "c"},
		`{"input":"--- /dev/null\n+++ a"}`:                                                         {"a"},
		`{"command":"rm a"}`:                                                                       nil,
	} {
		call := fermata.GateCall{Tool: "edit", Input: json.RawMessage(input)}
		if got := call.Paths(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// TestProtectedAgentFiles checks that a call that writes files that control agent programs needs a question as well.
func TestProtectedAgentFiles(t *testing.T) {
	t.Parallel()
	all := gateRule("all", fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow})
	for name, tt := range map[string]struct {
		tool, input string
		asks        bool
	}{
		"servers of MCP":          {"write_file", `{"file_path":"/w/.mcp.json","content":"{}"}`, true},
		"hooks of Claude Code":    {"Edit", `{"file_path":".claude/settings.local.json"}`, true},
		"settings of Gemini CLI":  {"replace", `{"file_path":"sub/.gemini/settings.json"}`, true},
		"settings of opencode":    {"edit", `{"filePath":"opencode.jsonc"}`, true},
		"a plugin of opencode":    {"write", `{"filePath":".OpenCode/plugin/x.js"}`, true},
		"a patch":                 {"apply_patch", `{"input":"*** Begin Patch\n*** Add File: .codex/config.toml\n+x"}`, true},
		"a command":               {"Bash", `{"command":"cp x .mcp.json"}`, true},
		"the whole folder":        {"move", `{"source":"x","destination":"/home/ada/.gemini"}`, true},
		"a global plugin":         {"write", `{"filePath":"/home/ada/.config/opencode/plugins/x.js"}`, true},
		"a global plugin, once":   {"Write", `{"file_path":"~/.config/opencode/plugin/x.js"}`, true},
		"a plugin elsewhere":      {"Write", `{"file_path":"/srv/xdg/opencode/plugins/x.js"}`, true},
		"settings of opencode 2":  {"Write", `{"file_path":"~/.config/opencode/config.json"}`, true},
		"managed settings":        {"Write", `{"file_path":"/etc/claude-code/managed-settings.json"}`, true},
		"managed servers":         {"Write", `{"file_path":"/Library/Application Support/ClaudeCode/managed-mcp.json"}`, true},
		"Claude's window":         {"Write", `{"file_path":"/Users/ada/Library/Application Support/Claude/claude_desktop_config.json"}`, true},
		"Codex for all":           {"Write", `{"file_path":"/etc/codex/config.toml"}`, true},
		"Gemini CLI for all":      {"Write", `{"file_path":"/etc/gemini-cli/settings.json"}`, true},
		"a path as a name":        {"mcp__fs__write", `{"files":{".claude/settings.json":"x"}}`, true},
		"an encoded address":      {"mcp__fs__op", `{"uri":"file:///w/%2emcp.json"}`, true},
		"a folder of opencode":    {"Write", `{"file_path":"packages/opencode/plugin/index.ts"}`, false},
		"a package of opencode":   {"Write", `{"file_path":"internal/runner/opencode/plugin.go"}`, false},
		"an agent in the text":    {"Write", `{"file_path":"a.md","content":".mcp.json"}`, false},
		"the file of a plan":      {"Write", `{"file_path":"/home/ada/.claude/plans/blue-fox.md"}`, false},
		"a pattern":               {"Bash", `{"command":"cp x .cl*/settings.json"}`, true},
		"a working copy":          {"Write", `{"file_path":"/w/.claude/worktrees/fix/main.go"}`, false},
		"settings in one":         {"Write", `{"file_path":"/w/.claude/worktrees/fix/.claude/settings.json"}`, true},
		"reading it":              {"Read", `{"file_path":".mcp.json"}`, false},
		"looking at it":           {"Bash", `{"command":"cat .mcp.json"}`, false},
		"what is committed of it": {"Bash", `{"command":"git add .mcp.json"}`, false},
		"instructions":            {"Write", `{"file_path":"CLAUDE.md"}`, false},
		"another file":            {"Write", `{"file_path":"docs/opencode.json.md"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := fermata.GateCall{Tool: tt.tool, Input: json.RawMessage(tt.input)}
			got := fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{all}, fermata.Policy{GateDefault: fermata.GateAllow}, wordShell, noon)
			if asks := got.Decision == fermata.GateAsk && got.Rule.ID == fermata.ProtectedAgentRule; asks != tt.asks {
				t.Errorf("%s, %s", got.Decision, got.Explain())
			}
		})
	}
}

// TestProtectedGitFilesByName checks that only a rule that names protected files allows them, and that a deny rule still wins.
func TestProtectedGitFilesByName(t *testing.T) {
	t.Parallel()
	call := fermata.GateCall{Tool: "Write", Input: json.RawMessage(`{"file_path":"a/.gitattributes"}`)}
	named := gateRule("named", fermata.NewGateRule{Tool: "Write", Args: map[string]string{"file_path": "*/.gitattributes"}, Decision: fermata.GateAllow})
	wide := gateRule("wide", fermata.NewGateRule{Tool: "Write", Args: map[string]string{"file_path": "*"}, Decision: fermata.GateAllow})
	deny := gateRule("deny", fermata.NewGateRule{Tool: "Write", Decision: fermata.GateDeny})
	for want, rules := range map[string][]*fermata.GateRule{"named": {named, wide}, fermata.ProtectedRule: {wide}, "deny": {named, wide, deny}} {
		if got := fermata.JudgeCall(&call, fermata.GateOrigin{}, rules, fermata.DefaultPolicy(), noShell, noon); got.Rule == nil || got.Rule.ID != want {
			t.Errorf("%s: %s by %s", want, got.Decision, got.Explain())
		}
	}
}

// TestProtectedHookByName checks that a rule names a hook of a bare repository by its folder and its name.
func TestProtectedHookByName(t *testing.T) {
	t.Parallel()
	call := fermata.GateCall{Tool: "Write", Input: json.RawMessage(`{"file_path":"/srv/x/hooks/update"}`)}
	for pattern, want := range map[string]fermata.GateDecision{"*/hooks/update": fermata.GateAllow, "/srv/*": fermata.GateAsk, "*/hooks/*": fermata.GateAsk} {
		rule := gateRule("rule", fermata.NewGateRule{Tool: "Write", Args: map[string]string{"file_path": pattern}, Decision: fermata.GateAllow})
		if got := fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{rule}, fermata.DefaultPolicy(), noShell, noon); got.Decision != want {
			t.Errorf("%s: %s by %s, want %s", pattern, got.Decision, got.Explain(), want)
		}
	}
}
