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
	// inside are further names of files that lie in such folders. A search from above finds them.
	inside []string
	// alsoPath reports further paths, by their parts, and alsoCommand further commands, by their
	// words, alsoSetting variables for a command, and alsoLine whole lines; nil is none.
	alsoPath, alsoCommand func(parts []string) bool
	alsoSetting           func(name, value string) bool
	alsoLine              func(line Shell) bool
}

var protections = []*protection{
	{
		id: ProtectedRule, reason: "it writes .git, .gitattributes, .gitmodules or hooks, or has git start a program: by these, git starts programs",
		// A worker keeps its own git folders in .git-state.
		names:    []string{".git", "git~1", ".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig", ".githooks", ".husky", ".git-state"},
		words:    slices.Concat([]string{"git config"}, gitSettingWords, pathsOfHooks()),
		inside:   slices.Concat([]string{"config", "config.worktree", "hooks", "info", "attributes", "commondir", "gitdir", "HEAD", "index"}, gitHooks),
		alsoPath: isInBareRepository, alsoCommand: setsOrStartsByGit, alsoSetting: startsProgramOfGit, alsoLine: startsByVariable,
	},
	{
		id: ProtectedAgentRule, reason: "it writes the settings of an agent program, such as .mcp.json or .claude: by these, the program starts others",
		names:    []string{".mcp.json", ".claude.json", ".codex", ".opencode", "opencode.json", "opencode.jsonc"},
		words:    []string{".claude", ".gemini"},
		inside:   []string{"settings.json", "settings.local.json", "config.toml", "config.json", "hooks.json"},
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
	writes, folders := c.Writes(), foldersOf(c, fields)
	inside := slices.ContainsFunc(folders, p.covers)
	return anyText(fields, "", func(name, text string) bool {
		switch {
		case isCommand(name):
			return p.writtenByLine(read(text), inside) || slices.ContainsFunc(patchedFiles(text), p.covers)
		case strings.HasPrefix(name, "GIT_") && p.isSetBy(name, text):
			return true
		case !writes:
			return false
		case inside && isPathName(name) && !path.IsAbs(text):
			return true
		case isPathName(name) && slices.ContainsFunc(folders, func(folder string) bool { return !path.IsAbs(text) && p.covers(path.Join(folder, text)) }):
			return true
		default:
			return isPathName(name) && p.covers(text) || slices.ContainsFunc(patchedFiles(text), p.covers)
		}
	})
}

// writtenByLine reports whether a command line writes such files. inside says that it runs in a folder of them.
func (p *protection) writtenByLine(line Shell, inside bool) bool {
	switch {
	case p.alsoLine != nil && p.alsoLine(line):
		return true
	case inside && (len(line.Writes) > 0 || slices.ContainsFunc(line.Calls, acts)):
		return true
	case slices.ContainsFunc(line.Writes, p.coversWord) || slices.ContainsFunc(line.Calls, p.writtenByCommand):
		return true
	case slices.ContainsFunc(line.Settings, func(setting string) bool {
		name, value, _ := strings.Cut(setting, "=")
		return p.isSetBy(name, value)
	}):
		return true
	case slices.ContainsFunc(line.Loose, acts):
		// What these write is not in sight. That the line speaks of such a file is enough.
		return slices.ContainsFunc(line.Texts, p.isMentioned) || slices.ContainsFunc(line.Calls, p.isFoundBy)
	default:
		return false
	}
}

// isSetBy reports whether a variable makes the commands that see it write such a file, or git start a program.
func (p *protection) isSetBy(name, value string) bool {
	isFile := name == "CDPATH" || strings.HasPrefix(name, "GIT_") && !slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}, name)
	return isFile && p.isMentioned(value) || p.alsoSetting != nil && p.alsoSetting(name, value)
}

// foldersOf returns the folders in which a call runs, as far as it names them.
func foldersOf(c *GateCall, fields any) []string {
	var folders []string
	if c.Dir != "" {
		folders = append(folders, c.Dir)
	}
	anyText(fields, "", func(name, text string) bool {
		if isWorkFolder(name) {
			folders = append(folders, text)
		}
		return false
	})
	return folders
}

// workFolders are the names of an argument for the folder of a call, in small letters and without marks between words. Claude Code and
// ACP name it cwd, Codex and opencode workdir, Gemini CLI dir_path, formerly directory.
var workFolders = []string{
	"cwd", "dir", "dirpath", "dirname", "directory", "directorypath", "workdir", "workdirectory", "workingdir", "workingdirectory", "workingfolder",
	"currentdir", "currentdirectory", "currentworkingdirectory", "basedir", "rootdir", "root", "folder", "folderpath", "chdir", "workspace",
}

// isWorkFolder reports whether an argument of this name is the folder in which a command runs, and from which paths begin.
func isWorkFolder(name string) bool {
	return slices.Contains(workFolders, strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)))
}

// acts reports whether a command does more than look at files.
func acts(words []string) bool { return len(words) > 0 && !looks(words) }

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
// without files of its own: shop.git/config, or hooks/pre-receive in any folder.
func isInBareRepository(parts []string) bool {
	for i, part := range parts[:len(parts)-1] {
		if strings.HasSuffix(part, ".git") && slices.Contains([]string{"hooks", "config", "info"}, parts[i+1]) ||
			part == "hooks" && slices.Contains(gitHooks, parts[i+1]) {
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
var lookers = []string{
	"cat", "ls", "head", "tail", "stat", "wc", "grep", "diff", "cmp", "test", "[", "find", "du", "echo", "printf",
	"true", "false", ":", "pwd", "basename", "dirname", "realpath", "readlink", "tr", "cut",
}

// looks reports whether a command only reads the files that it names.
func looks(words []string) bool {
	name := path.Base(words[0])
	return slices.Contains(lookers, name) && (name != "find" || !findActs(words))
}

// writtenByCommand reports whether a command may write such a file: it names one
// and does more than look at it, or it sets what git goes by. A command that changes into
// such a folder counts as well, because the next one can name a file without the folder.
func (p *protection) writtenByCommand(words []string) bool {
	switch {
	case len(words) == 0:
		return false
	case p.alsoCommand != nil && p.alsoCommand(words):
		return true
	case words[0] == "git":
		return p.isWrittenByGit(words[1:])
	case looks(words):
		return false
	default:
		return slices.ContainsFunc(words[1:], p.isMentioned) || words[0] == "find" && p.isFoundBy(words)
	}
}

// isMentioned reports whether a text holds a word that means one of the files.
func (p *protection) isMentioned(text string) bool {
	if strings.HasPrefix(text, "--exclude") && !strings.ContainsFunc(text, unicode.IsSpace) {
		return false // grep, rsync and tar leave the file out
	}
	return p.coversWord(text) || slices.ContainsFunc(strings.FieldsFunc(text, isBetweenWords), func(word string) bool {
		return p.coversWord(word) || len(word) > 2 && word[0] == '-' && p.coversWord(word[2:]) // -o.git/config
	})
}

// isBetweenWords reports whether a character stands between the words of command lines, options and programs.
func isBetweenWords(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`;&|()<>{},:=@#$", r)
}

// coversWord reports whether a word of a command means one of the files. A shell replaces a pattern such as .g?t by the names that
// fit it.
func (p *protection) coversWord(word string) bool {
	return p.covers(word) || slices.ContainsFunc(strings.Split(plainLetters(word), "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[") && fitsOne(part, slices.Concat(p.names, p.words))
	})
}

// fitsOne reports whether a file pattern of a shell may fit one of the names. A bracket expression counts as any character.
func fitsOne(pattern string, names []string) bool {
	pattern = anyOfBrackets(strings.ToLower(pattern))
	return slices.ContainsFunc(names, func(name string) bool { return glob(pattern, strings.ToLower(name)) })
}

// anyOfBrackets replaces each bracket expression of a pattern by a question mark: [t], [!x], [[:lower:]].
func anyOfBrackets(pattern string) string {
	var sb strings.Builder
	for i := 0; i < len(pattern); i++ {
		if end := endOfBrackets(pattern[i:]); end > 0 {
			sb.WriteByte('?')
			i += end
			continue
		}
		sb.WriteByte(pattern[i])
	}
	return sb.String()
}

// endOfBrackets returns where the bracket expression ends with which a text begins; 0 where none begins.
func endOfBrackets(text string) int {
	if !strings.HasPrefix(text, "[") {
		return 0
	}
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		i++
	}
	for first := i; i < len(text); i++ {
		switch {
		case text[i] == ']' && i > first:
			return i
		case text[i] == '[' && i+1 < len(text) && strings.ContainsRune(":.=", rune(text[i+1])):
			end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
			if end < 0 {
				return 0
			}
			i += end + 3
		}
	}
	return 0
}

// findActs reports whether find does more than look at what it finds.
func findActs(words []string) bool {
	for i, word := range words {
		switch {
		case word == "-delete" || strings.HasPrefix(word, "-fprint") || strings.HasPrefix(word, "-fls"):
			return true
		case strings.HasPrefix(word, "-exec") || strings.HasPrefix(word, "-ok"):
			if acts(words[i+1:]) {
				return true
			}
		}
	}
	return false
}

// isFoundBy reports whether a command is a find from above that may find such files. One below a folder of a plain relative name does
// not count, nor does one whose -name fits none of them.
func (p *protection) isFoundBy(words []string) bool {
	if len(words) == 0 || words[0] != "find" {
		return false
	}
	words = words[1:]
	for len(words) > 0 && slices.Contains([]string{"-H", "-L", "-P"}, words[0]) {
		words = words[1:]
	}
	end := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") || word == "(" || word == "!" })
	if end < 0 {
		end = len(words)
	}
	isBelow := func(folder string) bool {
		folder = path.Clean(folder)
		return folder != "." && !path.IsAbs(folder) && !strings.HasPrefix(folder, "..") && !strings.ContainsAny(folder, "*?[~$") && !p.covers(folder)
	}
	if end > 0 && !slices.ContainsFunc(words[:end], func(folder string) bool { return !isBelow(folder) }) {
		return false
	}
	tests := words[end:]
	if slices.ContainsFunc(tests, func(word string) bool { return slices.Contains([]string{"-o", "-or", ",", "!", "-not"}, word) }) {
		return true
	}
	for i, word := range tests {
		if (word == "-name" || word == "-iname") && i+1 < len(tests) && !fitsOne(tests[i+1], slices.Concat(p.names, p.words, p.inside)) {
			return false
		}
	}
	return true
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
