package fermata

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
)

// The rules that every workspace has: a call that writes files by which a program starts
// others is asked, whatever allows the tool. A git of the user's or of a worker, or the next
// agent, would start what is written there.
const (
	// ProtectedRule is the id of the rule for what git goes by.
	ProtectedRule = "protected_git_files"
	// ProtectedAgentRule is the id of the rule for what agent programs go by.
	ProtectedAgentRule = "protected_agent_files"
)

// protection is one of these rules.
type protection struct {
	id, reason string
	// names are the files and folders that it protects. An allow rule is meant for them if one of
	// its patterns holds one of names or words.
	names, words []string
	// alsoPath reports further paths, by their parts, and alsoCommand further commands, by their
	// words; nil is none.
	alsoPath, alsoCommand func(parts []string) bool
}

var protections = []*protection{
	{
		id: ProtectedRule, reason: "it writes .git, .gitattributes, .gitmodules or hooks: by these, git starts programs",
		// A worker keeps its own git folders in .git-state.
		names: []string{".git", "git~1", ".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig", ".githooks", ".husky", ".git-state"},
		words: []string{"git config"}, alsoPath: isInBareRepository, alsoCommand: runsGitConfig,
	},
	{
		id: ProtectedAgentRule, reason: "it writes the settings of an agent program, such as .mcp.json or .claude: by these, the program starts others",
		names:    []string{".mcp.json", ".claude.json", ".codex", ".opencode", "opencode.json", "opencode.jsonc"},
		words:    []string{".claude", ".gemini"},
		alsoPath: isAgentFolder,
	},
}

// rule is the protection as a rule for the tool of a call.
func (p *protection) rule(tool string) *GateRule {
	return &GateRule{
		ID:          p.id,
		Owner:       Actor{Kind: ActorSystem, Name: "Fermata"},
		NewGateRule: NewGateRule{Tool: tool, Decision: GateAsk, Risk: RiskHigh, Reason: p.reason},
	}
}

// writtenBy reports whether a call writes, moves or removes such files, as far as its
// arguments tell.
func (p *protection) writtenBy(c *GateCall, fields any, read ReadShell) bool {
	writes := c.Writes()
	inside := c.Dir != "" && p.covers(c.Dir) || anyText(fields, "", func(name, text string) bool { return isWorkFolder(name) && p.covers(text) })
	return anyText(fields, "", func(name, text string) bool {
		switch {
		case isCommand(name):
			line := read(text)
			if inside && (len(line.Writes) > 0 || slices.ContainsFunc(line.Commands, acts)) {
				return true
			}
			return slices.ContainsFunc(line.Writes, p.coversWord) || slices.ContainsFunc(line.Commands, p.writtenByCommand) || slices.ContainsFunc(patchedFiles(text), p.covers)
		case !writes || isWorkFolder(name):
			return false
		case inside && isPathName(name) && !path.IsAbs(text):
			return true
		default:
			return isPathName(name) && p.covers(text) || slices.ContainsFunc(patchedFiles(text), p.covers)
		}
	})
}

// isWorkFolder reports whether an argument of this name is the folder in which a command runs, and from which paths begin.
func isWorkFolder(name string) bool {
	return slices.Contains([]string{"cwd", "dir", "directory", "workdir", "work_dir", "workingdirectory", "working_directory", "current_directory"}, strings.ToLower(name))
}

// acts reports whether a command does more than look at files.
func acts(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && !looks(words)
}

// Writes reports whether the tool writes files, by its name.
func (c *GateCall) Writes() bool {
	tool := strings.ToLower(c.Tool)
	return slices.ContainsFunc(writeWords, func(word string) bool { return strings.Contains(tool, word) })
}

// Paths returns the files that the arguments name, those of patches among them. Whether the tool
// writes them, reads them or does something else is the tool's affair.
func (c *GateCall) Paths() []string {
	var fields any
	if json.Unmarshal(c.Input, &fields) != nil {
		return nil
	}
	var paths []string
	anyText(fields, "", func(name, text string) bool {
		switch {
		case isPatchName(name):
			paths = append(paths, patchedFiles(text)...)
		case isPathName(name) && !isCommand(name):
			paths = append(paths, text)
		}
		return false
	})
	return slices.DeleteFunc(paths, func(path string) bool { return path == "/dev/null" })
}

// isPatchName reports whether an argument of this name is a patch. The text of a file may look like one.
func isPatchName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"patch", "diff", "input"}, func(part string) bool { return strings.Contains(name, part) })
}

// writeWords are parts of the names of tools that write files.
var writeWords = []string{
	"write", "edit", "patch", "create", "replace", "insert", "update", "append", "save", "delete", "remove", "move", "rename", "copy", "put", "touch",
}

// anyText reports whether a text below the arguments, with the name of its argument,
// is one that is looked for. The words of a list are texts, and together a command.
func anyText(v any, name string, is func(name, text string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(name, v)
	case []any:
		if list, ok := commandWords(v); ok && is(name, quoted(list)) {
			return true
		}
		return slices.ContainsFunc(v, func(inner any) bool { return anyText(inner, name, is) })
	case map[string]any:
		for key, inner := range v {
			if anyText(inner, key, is) {
				return true
			}
		}
	}
	return false
}

// isPathName reports whether an argument of this name is a path.
func isPathName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"path", "file", "dest", "target", "source", "uri", "dir", "folder", "name"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// covers reports whether a path is one of the files, or lies in one. Another spelling
// that some file system takes for the same counts as well.
func (p *protection) covers(text string) bool {
	parts := strings.Split(path.Clean(strings.ReplaceAll(plainLetters(text), `\`, "/")), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, " .")
	}
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(p.names, part) }) || p.alsoPath != nil && p.alsoPath(parts)
}

// isInBareRepository reports whether a path leads to what git goes by in a repository
// without files of its own: shop.git/hooks/pre-receive.
func isInBareRepository(parts []string) bool {
	for i, part := range parts[:len(parts)-1] {
		if strings.HasSuffix(part, ".git") && slices.Contains([]string{"hooks", "config", "info"}, parts[i+1]) {
			return true
		}
	}
	return false
}

// ownNotes are the folders in which Claude Code and Gemini CLI let their agents keep plans and
// notes. They start nothing.
var ownNotes = map[string][]string{".claude": {"plans", "projects", "todos", "worktrees"}, ".gemini": {"tmp"}}

// isAgentFolder reports whether a path is the folder of such a program, or lies in it and outside
// of its notes.
func isAgentFolder(parts []string) bool {
	for i, part := range parts {
		if notes, ok := ownNotes[part]; ok && (i+1 == len(parts) || !slices.Contains(notes, parts[i+1])) {
			return true
		}
	}
	return false
}

// plainLetters is the text in small letters, without characters that nobody sees.
func plainLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// patchedFiles returns the files that a patch names; none for a text that is no patch.
func patchedFiles(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename to "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// lookers are commands that read the files that they name, and do nothing else with them.
var lookers = []string{"cat", "ls", "head", "tail", "stat", "wc", "grep", "diff", "cmp", "test", "[", "find", "du", "echo"}

// findActs are the beginnings of options by which find does more than look.
var findActs = []string{"-delete", "-exec", "-ok", "-fprint", "-fls"}

// writtenByCommand reports whether a command may write such a file: it names one
// and does more than look at it, or it sets what git goes by. A command that changes into
// such a folder counts as well, because the next one can name a file without the folder.
func (p *protection) writtenByCommand(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	if p.alsoCommand != nil && p.alsoCommand(words) {
		return true
	}
	if words[0] == "git" {
		words = gitSubcommand(words[1:])
		if len(words) == 0 || !slices.Contains(gitWrites, words[0]) {
			return false
		}
	}
	return !looks(words) && slices.ContainsFunc(words[1:], func(word string) bool {
		_, value, _ := strings.Cut(word, "=")
		return p.coversWord(strings.Trim(word, `"'`)) || value != "" && p.coversWord(value)
	})
}

// gitWrites are the subcommands of git that write, move or remove the files that they name.
var gitWrites = []string{"mv", "rm", "checkout", "restore", "clean", "checkout-index", "worktree", "init", "clone"}

// coversWord reports whether a word of a command means one of the files. A shell replaces a pattern such as .g?t by the names that
// fit it.
func (p *protection) coversWord(word string) bool {
	return p.covers(word) || slices.ContainsFunc(strings.Split(plainLetters(word), "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[") && slices.ContainsFunc(slices.Concat(p.names, p.words), func(name string) bool {
			fits, err := path.Match(part, name)
			return fits && err == nil
		})
	})
}

// runsGitConfig reports whether a command is git config with a value.
func runsGitConfig(words []string) bool { return words[0] == "git" && setsGitConfig(words[1:]) }

// looks reports whether a command only reads the files that it names.
func looks(words []string) bool {
	name := path.Base(words[0])
	if !slices.Contains(lookers, name) {
		return false
	}
	return name != "find" || !slices.ContainsFunc(words[1:], func(word string) bool {
		return slices.ContainsFunc(findActs, func(act string) bool { return strings.HasPrefix(word, act) })
	})
}

// Words of git config. A word of configReads or configWrites is a subcommand only before the name of a setting. An option
// of configValued is followed by its value.
var (
	configReads  = []string{"get", "list"}
	configWrites = []string{"set", "unset", "edit", "rename-section", "remove-section"}
	configValued = []string{"-f", "--file", "--blob", "--type", "--default", "--comment", "--value", "--url"}
)

// gitSubcommand returns the words behind git, from the subcommand on.
func gitSubcommand(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, words[0]) && len(words) > 1 {
			words = words[1:] // its value stands apart
		}
		words = words[1:]
	}
	return words
}

// setsGitConfig reports whether the words behind git set a value of a configuration.
func setsGitConfig(words []string) bool {
	words = gitSubcommand(words)
	if len(words) == 0 || words[0] != "config" {
		return false
	}
	words = words[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		option := strings.TrimLeft(words[0], "-")
		switch {
		case strings.HasPrefix(words[0], "--get") || option == "list" || words[0] == "-l":
			return false
		case slices.ContainsFunc(configWrites, func(write string) bool { return strings.HasPrefix(option, write) }) ||
			slices.Contains([]string{"add", "replace-all", "e"}, option):
			return true
		case slices.Contains(configValued, words[0]) && len(words) > 1:
			words = words[1:]
		}
		words = words[1:]
	}
	switch {
	case len(words) == 0 || slices.Contains(configReads, words[0]):
		return false
	case slices.Contains(configWrites, words[0]):
		return true
	default:
		return len(words) > 1
	}
}

// isAllowedBy reports whether an allow rule is meant for such files: a pattern of
// its arguments names one.
func (p *protection) isAllowedBy(r *GateRule) bool {
	if r.Decision != GateAllow {
		return false
	}
	for _, pattern := range r.Args {
		text := fixedText(pattern)
		if slices.ContainsFunc(slices.Concat(p.names, p.words), func(name string) bool { return strings.Contains(text, name) }) {
			return true
		}
	}
	return false
}
