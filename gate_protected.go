package fermata

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// ProtectedRule is the id of the rule that every workspace has: a call that writes
// what git goes by is asked, whatever allows the tool. A git of the user's, or of a
// worker, would start what is written there.
const ProtectedRule = "protected_git_files"

// protectedRule is that rule, for the tool of a call.
func protectedRule(tool string) *GateRule {
	return &GateRule{
		ID:    ProtectedRule,
		Owner: Actor{Kind: ActorSystem, Name: "Fermata"},
		NewGateRule: NewGateRule{
			Tool: tool, Decision: GateAsk, Risk: RiskHigh,
			Reason: "it writes .git, .gitattributes, .gitmodules or hooks: by these, git starts programs",
		},
	}
}

// writesGitFiles reports whether a call writes, moves or removes what git goes by,
// as far as its arguments tell.
func (c *GateCall) writesGitFiles(fields any, read ReadShell) bool {
	writes := slices.ContainsFunc(writeWords, func(word string) bool { return strings.Contains(strings.ToLower(c.Tool), word) })
	return anyText(fields, "", func(name, text string) bool {
		switch {
		case isCommand(name):
			line := read(text)
			return slices.ContainsFunc(line.Writes, isGitFile) || slices.ContainsFunc(line.Commands, commandWritesGitFiles) || patchesGitFiles(text)
		case !writes:
			return false
		default:
			return isPathName(name) && isGitFile(text) || patchesGitFiles(text)
		}
	})
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

// gitNames are files and folders by which git, or a person's hooks, start programs.
var gitNames = []string{".git", "git~1", ".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig", ".githooks", ".husky"}

// isGitFile reports whether a path is one of them, or lies in one. Another spelling
// that some file system takes for the same counts as well.
func isGitFile(text string) bool {
	parts := strings.Split(path.Clean(strings.ReplaceAll(plainLetters(text), `\`, "/")), "/")
	for i, part := range parts {
		part = strings.TrimRight(part, " .")
		if slices.Contains(gitNames, part) {
			return true
		}
		// A repository without files of its own: shop.git/hooks/pre-receive.
		if strings.HasSuffix(part, ".git") && i+1 < len(parts) && slices.Contains([]string{"hooks", "config", "info"}, parts[i+1]) {
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

// patchesGitFiles reports whether a text is a patch of such a file.
func patchesGitFiles(text string) bool {
	for line := range strings.Lines(text) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename to "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok && isGitFile(name) {
				return true
			}
		}
	}
	return false
}

// lookers are commands that read the files that they name, and do nothing else with them.
var lookers = []string{"cat", "ls", "head", "tail", "stat", "wc", "grep", "diff", "cmp", "test", "[", "find", "du", "echo"}

// findActs are the beginnings of options by which find does more than look.
var findActs = []string{"-delete", "-exec", "-ok", "-fprint", "-fls"}

// commandWritesGitFiles reports whether a command may write such a file: it names one
// and does more than look at it, or it sets what git goes by. A command that changes into
// such a folder counts as well, because the next one can name a file without the folder.
func commandWritesGitFiles(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	if words[0] == "git" {
		return setsGitConfig(words[1:])
	}
	return !looks(words) && slices.ContainsFunc(words[1:], func(word string) bool {
		_, value, _ := strings.Cut(word, "=")
		return isGitFile(strings.Trim(word, `"'`)) || value != "" && isGitFile(value)
	})
}

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

// setsGitConfig reports whether the words behind git set a value of a configuration.
func setsGitConfig(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, words[0]) && len(words) > 1 {
			words = words[1:] // its value stands apart
		}
		words = words[1:]
	}
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

// namesGitFiles reports whether an allow rule is meant for such files: a pattern of
// its arguments names one.
func (r *GateRule) namesGitFiles() bool {
	for _, pattern := range r.Args {
		text := fixedText(pattern)
		if slices.ContainsFunc(gitNames, func(name string) bool { return strings.Contains(text, name) }) || strings.Contains(text, "git config") {
			return true
		}
	}
	return false
}
