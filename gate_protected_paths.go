package fermata

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// covers reports whether a path is one of the files, or lies in one. Another spelling
// that some file system or program takes for the same counts as well.
func (p *protection) covers(text string) bool {
	return slices.ContainsFunc(spellings(text), func(spelling string) bool {
		parts := pathParts(spelling)
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(p.names, part) }) || p.alsoPath != nil && p.alsoPath(parts)
	})
}

// spellings returns a path, and what it is without percent-encoding, as an address and without the marks of a drive or of a stream.
func spellings(text string) []string {
	all := []string{text}
	for range 2 {
		plain := percentDecoded(all[len(all)-1])
		if plain == all[len(all)-1] {
			break
		}
		all = append(all, plain)
	}
	for _, each := range slices.Clone(all) {
		if scheme, rest, isAddress := strings.Cut(each, ":"); isAddress && strings.EqualFold(scheme, "file") {
			all = append(all, rest[:endOf(rest, "?#")])
		}
		// C:.git is .git of a drive, and .git::$INDEX_ALLOCATION another name of .git.
		if len(each) > 1 && each[1] == ':' || strings.Contains(each, "::$") {
			all = append(all, strings.ReplaceAll(each, ":", "/"))
		}
	}
	return all
}

// endOf returns where the first of some characters stands in a text, or its length.
func endOf(text, chars string) int {
	if i := strings.IndexAny(text, chars); i >= 0 {
		return i
	}
	return len(text)
}

// percentDecoded replaces %2e and the like. What is no such code stays.
func percentDecoded(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var sb strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				sb.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		sb.WriteByte(text[i])
	}
	return sb.String()
}

// pathParts returns the names of a path in small letters, as a file system takes them.
func pathParts(text string) []string {
	parts := strings.Split(path.Clean(strings.ReplaceAll(plainLetters(text), `\`, "/")), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, " .")
	}
	return parts
}

// isNamed reports whether a part of a path is one of the names, or a file pattern with some text that fits one.
func isNamed(part string, names ...string) bool {
	return slices.Contains(names, part) || strings.ContainsAny(part, "*?[") && strings.Trim(part, "*?") != "" && fitsOne(part, names)
}

// isGitFile reports whether a path leads to what git goes by, and is none of the names of its rule: in a repository without files of its
// own, for all repositories of a person (.config/git/config), or for all of a machine (etc/gitconfig).
func isGitFile(parts []string) bool {
	for i, part := range parts {
		before, next := "", ""
		if i > 0 {
			before = parts[i-1]
		}
		isLast := i+1 == len(parts)
		if !isLast {
			next = parts[i+1]
		}
		switch {
		case isNamed(before, ".config") && isNamed(part, "git") && (isLast || next != "ignore"),
			isNamed(before, ".config") && strings.Trim(part, "*?") == "" && isNamed(next, "config", "attributes"),
			part == "git" && i+2 == len(parts) && isNamed(next, "config", "attributes") && mayBeSettings(before),
			part == ".config" && isLast && isHome(parts[:i]),
			before == "etc" && isLast && isNamed(part, "gitconfig", "gitattributes"):
			return true
		case isLast:
		case strings.HasSuffix(part, ".git") && isNamed(next, "hooks", "config", "info"), part == "hooks" && isNamed(next, gitHooks...):
			return true
		}
	}
	return false
}

// mayBeSettings reports whether a folder may be the one in which the programs of a person keep settings, by its name. XDG_CONFIG_HOME may
// name any folder, and a path may begin in it.
func mayBeSettings(name string) bool {
	return name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "*?[$~") || strings.Contains(name, "config") || strings.Contains(name, "xdg")
}

// isHome reports whether the parts of a path lead to the home of a person.
func isHome(parts []string) bool {
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return strings.HasPrefix(last, "~") || last == "root" || len(parts) > 1 && slices.Contains([]string{"home", "users"}, parts[len(parts)-2])
}

// ownNotes are the folders in which Claude Code and Gemini CLI let their agents keep plans and
// notes. They start nothing.
var ownNotes = map[string][]string{".claude": {"plans", "projects", "todos", "worktrees"}, ".gemini": {"tmp"}}

// agentFolders are the folders of agent programs below others, for a person and for a machine.
var agentFolders = map[string][]string{
	".config":             {"opencode", "claude", "codex", "gemini"},
	"etc":                 {"opencode", "claude-code", "codex", "gemini-cli"},
	"application support": {"opencode", "claudecode", "geminicli"},
	"programdata":         {"opencode", "claudecode", "gemini-cli", "codex"},
	"program files":       {"claudecode"},
}

// isAgentFolder reports whether a path is a folder of agent programs, or lies in one and outside
// of its notes.
func isAgentFolder(parts []string) bool {
	for i, part := range parts {
		if notes, ok := ownNotes[part]; ok && (i+1 == len(parts) || !slices.Contains(notes, parts[i+1])) {
			return true
		}
		if part == "opencode" && i+1 < len(parts) && isNamed(parts[i+1], "plugin", "plugins") && (i == 0 || mayBeSettings(parts[i-1])) {
			return true
		}
		for above, names := range agentFolders {
			if i > 0 && isNamed(parts[i-1], above) && isNamed(part, names...) {
				return true
			}
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

// patchMarks stand before the name of a file in a patch. A patch of the kind that begins with *** has any two words and a colon there.
var patchMarks = []string{"+++", "---", "***", "rename to ", "rename from ", "copy to ", "Index:", "diff --git "}

// patchedFiles returns the files that a patch names; none for a text that is no patch. Spaces around marks and names do not count.
func patchedFiles(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range patchMarks {
			name, ok := strings.CutPrefix(line, mark)
			if !ok || strings.HasPrefix(name, mark[:1]) {
				continue
			}
			names = append(names, namesBehind(mark, strings.TrimSpace(name))...)
		}
	}
	return names
}

// namesBehind returns the files that stand behind a mark of a patch.
func namesBehind(mark, rest string) []string {
	switch mark {
	case "***":
		action, name, _ := strings.Cut(rest, ":")
		words := strings.Fields(action)
		if len(words) == 2 && (strings.EqualFold(words[1], "File") || strings.EqualFold(words[1], "to")) {
			return []string{strings.TrimSpace(name)}
		}
		if len(words) > 0 && slices.Contains([]string{"Begin", "End"}, words[0]) {
			return nil
		}
	case "diff --git ":
		var names []string
		for _, name := range strings.Fields(rest) {
			names = append(names, namesBehind("+++", name)...)
		}
		return names
	}
	name, _, _ := strings.Cut(rest, "\t")
	if plain, err := strconv.Unquote(name); err == nil {
		name = plain
	}
	if name == "" {
		return nil
	}
	return []string{name}
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
