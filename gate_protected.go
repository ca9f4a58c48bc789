package fermata

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Ids of the rules that every workspace has. A call that writes files by which a program starts other programs needs
// a question, even if a rule allows the tool. Otherwise the git of the user or of a worker, or the next agent, would
// start programs that the call wrote there.
const (
	// ProtectedRule is the id of the rule for files that control git.
	ProtectedRule = "protected_git_files"
	// ProtectedAgentRule is the id of the rule for files that control agent programs.
	ProtectedAgentRule = "protected_agent_files"
)

// protection is one of the rules that every workspace has.
type protection struct {
	id, reason string
	// names are the files and folders that the rule protects. In each of folders, [protection.isExtraPath] decides which
	// files it protects. An allow rule overrides this protection if one of its patterns contains one of names,
	// folders or allowWords.
	names, folders, allowWords []string
	// filesInside are the names of files in such folders. A search that begins above the folders can find a file by these names.
	filesInside []string
	// Each function adds cases to the rule, and may be nil. isExtraPath gets the parts of a path, and isExtraCommand the
	// words of a command. isExtraVariable gets a variable that is set for a command, and isExtraLine a whole line.
	isExtraPath, isExtraCommand func(parts []string) bool
	isExtraVariable             func(name, value string) bool
	isExtraLine                 func(line ShellLine) bool
}

var protections = []*protection{
	{
		id: ProtectedRule, reason: "it writes .git, .gitattributes, .gitmodules or hooks, or has git start a program: by these, git starts programs",
		// A worker keeps its own git folders in .git-state.
		names:       []string{".git", "git~1", ".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig", ".githooks", ".husky", ".git-state"},
		allowWords:  slices.Concat([]string{"git config", "git/config", "git/attributes", "gitconfig", ".config/git"}, gitSettingWords, hookPaths()),
		filesInside: slices.Concat([]string{"config", "config.worktree", "hooks", "info", "attributes", "commondir", "gitdir", "HEAD", "index"}, gitHooks),
		isExtraPath: isGitFile, isExtraCommand: changesGitSettingsOrStartsProgram, isExtraVariable: setsGitProgramOrSettings, isExtraLine: runsGitWithSharedVariable,
	},
	{
		id: ProtectedAgentRule, reason: "it writes or changes the settings of an agent program, such as .mcp.json or .claude: by these, the program starts others",
		names: []string{
			".mcp.json", ".claude.json", ".codex", ".opencode", "opencode.json", "opencode.jsonc",
			"managed-settings.json", "managed-settings.d", "managed-mcp.json", "claude_desktop_config.json",
		},
		folders:     []string{".claude", ".gemini"},
		allowWords:  slices.Concat([]string{".config/opencode", "opencode/plugin", "/etc/codex", "/etc/claude-code", "/etc/gemini-cli"}, agentSettingWords),
		filesInside: []string{"settings.json", "settings.local.json", "config.toml", "config.json", "hooks.json", "plugin", "plugins"},
		isExtraPath: isAgentFolder, isExtraCommand: reconfiguresAgentOrGate, isExtraVariable: redirectsAgentSettings, isExtraLine: startsAgentWithOtherHome,
	},
}

// rule returns the protection as a gate rule for a tool.
func (p *protection) rule(tool string) *GateRule {
	return &GateRule{
		ID:          p.id,
		Owner:       Actor{Kind: ActorSystem, Name: "Fermata"},
		NewGateRule: NewGateRule{Tool: tool, Decision: GateAsk, Risk: RiskHigh, Reason: p.reason},
	}
}

// isWrittenBy reports whether a call writes, moves or removes protected files, as far as its arguments reveal.
func (p *protection) isWrittenBy(c *GateCall, fields any, read ReadShell) bool {
	writes, folders := c.mayWrite(), foldersOf(c, fields)
	inProtectedFolder := slices.ContainsFunc(folders, p.coversPath)
	if slices.ContainsFunc(joinedCommands(c, fields), func(line string) bool { return p.isWrittenByLine(read(line), inProtectedFolder) }) {
		return true
	}
	if writes && slices.ContainsFunc(joinedPaths(fields), p.coversPath) {
		return true
	}
	return hasMatchingText(fields, "", func(name, text string) bool {
		switch {
		case isCommand(name):
			return p.isWrittenByLine(read(text), inProtectedFolder) || slices.ContainsFunc(patchedFiles(text), p.coversPath)
		case strings.HasPrefix(lastName(name), "GIT_") && p.isSetBy(lastName(name), text):
			return true
		case c.runsCommands() && !isForPeople(name) && !isWorkFolder(name) && p.isWrittenByLine(read(text), false):
			return true
		case !writes || isWorkFolder(name) && !c.Writes():
			return false
		case inProtectedFolder && isPathName(name) && !path.IsAbs(text):
			return true
		case isPathName(name) && slices.ContainsFunc(folders, func(folder string) bool { return !path.IsAbs(text) && p.coversPath(path.Join(folder, text)) }):
			return true
		default:
			return mayBePath(name, text) && p.coversPath(text) || slices.ContainsFunc(patchedFiles(text), p.coversPath)
		}
	})
}

// isWrittenByLine reports whether a command line writes protected files. The argument inProtectedFolder
// means that the line runs in a folder of such files.
func (p *protection) isWrittenByLine(line ShellLine, inProtectedFolder bool) bool {
	// The tail of a command can be a command of its own with the same words, so the result for each word is cached.
	cache := map[string]bool{}
	mayBeMentioned := func(word string) bool {
		mentioned, ok := cache[word]
		if !ok {
			mentioned = p.mayBeMentioned(word)
			cache[word] = mentioned
		}
		return mentioned
	}
	switch {
	case p.isExtraLine != nil && p.isExtraLine(line):
		return true
	case inProtectedFolder && (len(line.WrittenFiles) > 0 || slices.ContainsFunc(line.Calls, doesMoreThanRead)):
		return true
	case slices.ContainsFunc(line.WrittenFiles, p.mayCoverWord) || slices.ContainsFunc(line.Calls, func(words []string) bool { return p.isWrittenByCommand(words, mayBeMentioned) }):
		return true
	case slices.ContainsFunc(line.Assignments, func(setting string) bool {
		name, value, _ := strings.Cut(setting, "=")
		return p.isSetBy(name, value)
	}):
		return true
	case slices.ContainsFunc(line.UncertainCalls, doesMoreThanRead):
		// The files that these commands write are not visible. It is enough that the line mentions a protected file.
		return slices.ContainsFunc(line.Texts, p.isMentioned) || slices.ContainsFunc(line.Calls, p.mayBeFoundBy)
	default:
		return false
	}
}

// isSetBy reports whether a variable makes later commands write a protected file, or makes git start a program.
func (p *protection) isSetBy(name, value string) bool {
	isFile := name == "CDPATH" || strings.HasPrefix(name, "GIT_") && !slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}, name)
	return isFile && p.isMentioned(value) || p.isExtraVariable != nil && p.isExtraVariable(name, value)
}

// doesMoreThanRead reports whether a command does more than read files.
func doesMoreThanRead(words []string) bool { return len(words) > 0 && !onlyReads(words) }

// readOnlyCommands are commands that only read the files that they name.
var readOnlyCommands = []string{
	"cat", "ls", "head", "tail", "stat", "wc", "grep", "diff", "cmp", "test", "[", "find", "du", "echo", "printf",
	"true", "false", ":", "pwd", "basename", "dirname", "realpath", "readlink", "tr", "cut",
}

// onlyReads reports whether a command only reads the files that it names.
func onlyReads(words []string) bool {
	name := path.Base(words[0])
	return slices.Contains(readOnlyCommands, name) && (name != "find" || !findDoesMoreThanRead(words))
}

// isWrittenByCommand reports whether a command may write a protected file. Either it names one and does more than
// read it, or it changes settings of git or of an agent program. A command that changes into a protected folder also
// counts, because the next command can then name a file without the folder.
func (p *protection) isWrittenByCommand(words []string, mayBeMentioned func(word string) bool) bool {
	switch {
	case len(words) == 0:
		return false
	case p.isExtraCommand != nil && p.isExtraCommand(words):
		return true
	case words[0] == "git":
		return p.isWrittenByGit(words[1:], mayBeMentioned)
	case onlyReads(words):
		return false
	default:
		return slices.ContainsFunc(words[1:], mayBeMentioned) || words[0] == "find" && p.mayBeFoundBy(words)
	}
}

// isMentioned reports whether a text holds a word that names a protected file.
func (p *protection) isMentioned(text string) bool { return hasMatchingWord(text, p.coversWord) }

// mayBeMentioned reports whether a text holds a word that names a protected file, or that may name one because part
// of it is unknown.
func (p *protection) mayBeMentioned(text string) bool { return hasMatchingWord(text, p.mayCoverWord) }

// hasMatchingWord reports whether a text holds a word that the callback accepts.
func hasMatchingWord(text string, matches func(word string) bool) bool {
	if strings.HasPrefix(text, "--exclude") && !strings.ContainsFunc(text, unicode.IsSpace) {
		return false // grep, rsync and tar leave this file out
	}
	return matches(text) || slices.ContainsFunc(strings.FieldsFunc(text, isWordSeparator), func(word string) bool {
		return matches(word) || len(word) > 2 && word[0] == '-' && matches(word[2:]) // -o.git/config
	})
}

// isWordSeparator reports whether a character separates words in command lines, options and programs.
func isWordSeparator(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`;&|()<>{},:=@#$", r)
}

// coversWord reports whether a word of a command names a protected file. A shell expands a pattern such as .g?t to
// the names that match it.
func (p *protection) coversWord(word string) bool {
	return p.coversPath(word) || slices.ContainsFunc(strings.Split(foldText(word), "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[") && matchesAnyName(part, slices.Concat(p.names, p.folders))
	})
}

// mayCoverWord reports whether a word names a protected file, or may name one because part of it is unknown. An
// unknown text before "it/config" may be ".g". An unknown text before "/config" may be the whole folder. A name that
// is completely unknown does not count.
func (p *protection) mayCoverWord(word string) bool {
	if !strings.Contains(word, UnknownText) || p.coversWord(word) {
		return p.coversWord(word)
	}
	parts := strings.Split(foldText(word), "/")
	last := parts[len(parts)-1]
	if slices.Contains([]string{".git", ".json", ".jsonc"}, strings.TrimPrefix(last, UnknownText)) {
		return false // the extension of an ordinary file name
	}
	if p.coversPath(strings.ReplaceAll(word, UnknownText, "")) || p.coversPath(strings.ReplaceAll(word, UnknownText, "/")) {
		return true
	}
	for i, part := range parts {
		known := strings.ReplaceAll(part, UnknownText, "")
		switch {
		case known == part:
		case known == "" || len(known) == 1:
			if i+2 == len(parts) && slices.Contains(p.filesInside, parts[i+1]) && slices.Contains(distinctiveNames, parts[i+1]) && (known == "" || matchesAnyName(part, slices.Concat(p.names, p.folders))) {
				return true
			}
		case matchesAnyName(part, slices.Concat(p.names, p.folders)):
			return true
		}
	}
	return false
}

// distinctiveNames are names of files in the folders of git and of agent programs. Each is enough for a question if the
// folder is unknown.
var distinctiveNames = []string{"config", "config.worktree", "hooks", "settings.json", "settings.local.json", "config.toml", "hooks.json"}

// findDoesMoreThanRead reports whether find does more than read the files that it finds.
func findDoesMoreThanRead(words []string) bool {
	for i, word := range words {
		switch {
		case word == "-delete" || strings.HasPrefix(word, "-fprint") || strings.HasPrefix(word, "-fls"):
			return true
		case strings.HasPrefix(word, "-exec") || strings.HasPrefix(word, "-ok"):
			if doesMoreThanRead(words[i+1:]) {
				return true
			}
		}
	}
	return false
}

// mayBeFoundBy reports whether a command is a find that may find protected files. A find inside a folder with a plain
// relative name does not count. A find whose -name matches none of the files does not count either.
func (p *protection) mayBeFoundBy(words []string) bool {
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
		return folder != "." && !path.IsAbs(folder) && !strings.HasPrefix(folder, "..") && !strings.ContainsAny(folder, "*?[~$") && !p.coversPath(folder)
	}
	if end > 0 && !slices.ContainsFunc(words[:end], func(folder string) bool { return !isBelow(folder) }) {
		return false
	}
	tests := words[end:]
	if slices.ContainsFunc(tests, func(word string) bool { return slices.Contains([]string{"-o", "-or", ",", "!", "-not"}, word) }) {
		return true
	}
	for i, word := range tests {
		if (word == "-name" || word == "-iname") && i+1 < len(tests) && !matchesAnyName(tests[i+1], slices.Concat(p.names, p.folders, p.filesInside)) {
			return false
		}
	}
	return true
}

// isAllowedBy reports whether an allow rule is meant for protected files: one
// of its argument patterns names such a file.
func (p *protection) isAllowedBy(r *GateRule) bool {
	if r.Decision != GateAllow {
		return false
	}
	for _, pattern := range r.Args {
		text := fixedText(pattern)
		if slices.ContainsFunc(slices.Concat(p.names, p.folders, p.allowWords), func(name string) bool { return strings.Contains(text, name) }) {
			return true
		}
	}
	return false
}
