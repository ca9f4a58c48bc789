package fermata

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// coversPath reports whether a path is a protected file or lies in a protected folder. It also counts other spellings
// that some file system or program takes for the same path.
func (p *protection) coversPath(text string) bool {
	return slices.ContainsFunc(spellings(text), func(spelling string) bool {
		parts := pathParts(spelling)
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(p.names, part) }) || p.isExtraPath != nil && p.isExtraPath(parts)
	})
}

// spellings returns a path and its other readings: with percent-encoding decoded up to twice, as a file: address, and
// with the colons of a drive or a stream as separators.
func spellings(text string) []string {
	all := []string{text}
	for range 2 {
		plain := decodePercent(all[len(all)-1])
		if plain == all[len(all)-1] {
			break
		}
		all = append(all, plain)
	}
	for _, each := range slices.Clone(all) {
		if scheme, rest, isAddress := strings.Cut(each, ":"); isAddress && strings.EqualFold(scheme, "file") {
			all = append(all, rest[:indexOrEnd(rest, "?#")])
		}
		// C:.git is .git on a drive, and .git::$INDEX_ALLOCATION is another name of .git.
		if len(each) > 1 && each[1] == ':' || strings.Contains(each, "::$") {
			all = append(all, strings.ReplaceAll(each, ":", "/"))
		}
	}
	return all
}

// indexOrEnd returns the index of the first of some characters in a text, or the length of the text.
func indexOrEnd(text, chars string) int {
	if i := strings.IndexAny(text, chars); i >= 0 {
		return i
	}
	return len(text)
}

// decodePercent replaces codes such as %2e by their bytes. It leaves invalid codes as they are.
func decodePercent(text string) string {
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

// pathParts returns the elements of a path in small letters and without trailing spaces and dots, which some file systems ignore.
func pathParts(text string) []string {
	parts := strings.Split(path.Clean(strings.ReplaceAll(foldText(text), `\`, "/")), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, " .")
	}
	return parts
}

// isNamed reports whether an element of a path is one of the names, or a file pattern with some literal text that matches one.
func isNamed(part string, names ...string) bool {
	return slices.Contains(names, part) || strings.ContainsAny(part, "*?[") && strings.Trim(part, "*?") != "" && matchesAnyName(part, names)
}

// isGitFile reports whether a path leads to a file that controls git but is not in the names of its rule. Such files
// are in a bare repository, in a person's git settings (.config/git/config) or in the settings of the machine
// (etc/gitconfig).
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
			part == "git" && i+2 == len(parts) && isNamed(next, "config", "attributes") && mayBeSettingsFolder(before),
			part == ".config" && isLast && isHomeFolder(parts[:i]),
			before == "etc" && isLast && isNamed(part, "gitconfig", "gitattributes"):
			return true
		case isLast:
		case strings.HasSuffix(part, ".git") && isNamed(next, "hooks", "config", "info"), part == "hooks" && isNamed(next, gitHooks...):
			return true
		}
	}
	return false
}

// mayBeSettingsFolder reports whether the name of a folder suggests a person's settings folder. XDG_CONFIG_HOME may name
// any folder, and a path may be relative to it.
func mayBeSettingsFolder(name string) bool {
	return name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "*?[$~") || strings.Contains(name, "config") || strings.Contains(name, "xdg")
}

// isHomeFolder reports whether the elements of a path lead to a person's home folder.
func isHomeFolder(parts []string) bool {
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return strings.HasPrefix(last, "~") || last == "root" || len(parts) > 1 && slices.Contains([]string{"home", "users"}, parts[len(parts)-2])
}

// agentNoteFolders are the folders in which Claude Code and Gemini CLI let their agents keep plans and notes. Files there start nothing.
var agentNoteFolders = map[string][]string{".claude": {"plans", "projects", "todos", "worktrees"}, ".gemini": {"tmp"}}

// agentFolders are the folders of agent programs, by the folder above them. Some belong to a person, some to the machine.
var agentFolders = map[string][]string{
	".config":             {"opencode", "claude", "codex", "gemini"},
	"etc":                 {"opencode", "claude-code", "codex", "gemini-cli"},
	"application support": {"opencode", "claudecode", "geminicli"},
	"programdata":         {"opencode", "claudecode", "gemini-cli", "codex"},
	"program files":       {"claudecode"},
}

// isAgentFolder reports whether a path is a settings folder of an agent program, or lies in one but outside its notes.
func isAgentFolder(parts []string) bool {
	for i, part := range parts {
		if notes, ok := agentNoteFolders[part]; ok && (i+1 == len(parts) || !slices.Contains(notes, parts[i+1])) {
			return true
		}
		if part == "opencode" && i+1 < len(parts) && isNamed(parts[i+1], "plugin", "plugins") && (i == 0 || mayBeSettingsFolder(parts[i-1])) {
			return true
		}
		for parent, names := range agentFolders {
			if i > 0 && isNamed(parts[i-1], parent) && isNamed(part, names...) {
				return true
			}
		}
	}
	return false
}

// foldText returns the text in small letters, without invisible characters.
func foldText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// patchMarks are the texts before the name of a file in a patch. After ***, two words and a colon come before the
// name, as in "*** Update File: a.go".
var patchMarks = []string{"+++", "---", "***", "rename to ", "rename from ", "copy to ", "Index:", "diff --git "}

// patchedFiles returns the files that a patch names, or none if the text is not a patch. It ignores spaces around
// marks and names.
func patchedFiles(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range patchMarks {
			name, ok := strings.CutPrefix(line, mark)
			if !ok || strings.HasPrefix(name, mark[:1]) {
				continue
			}
			names = append(names, namesAfterMark(mark, strings.TrimSpace(name))...)
		}
	}
	return names
}

// namesAfterMark returns the names of the files after a mark of a patch.
func namesAfterMark(mark, rest string) []string {
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
			names = append(names, namesAfterMark("+++", name)...)
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

// matchesAnyName reports whether a shell's file pattern may match one of the names. A bracket expression counts as any character.
func matchesAnyName(pattern string, names []string) bool {
	pattern = replaceBrackets(strings.ToLower(pattern))
	return slices.ContainsFunc(names, func(name string) bool { return matchesGlob(pattern, strings.ToLower(name)) })
}

// replaceBrackets replaces each bracket expression of a pattern, such as [t], [!x] or [[:lower:]], by a question mark.
func replaceBrackets(pattern string) string {
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

// endOfBrackets returns the index of the bracket that closes the bracket expression at the start of a text. It
// returns 0 if the text does not start with one.
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
