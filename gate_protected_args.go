package fermata

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

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
func isWorkFolder(name string) bool { return slices.Contains(workFolders, letters(name)) }

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

// readWords are the words in the names of tools that only look, and readParts are parts of such names.
var (
	readWords = []string{
		"get", "list", "find", "grep", "glob", "ls", "view", "show", "look", "query", "describe", "stat", "status", "tree", "diff", "log", "check", "count", "info",
		"browse", "inspect", "lint", "task", "agent", "skill", "think", "ask", "todo", "monitor",
	}
	readParts = []string{"read", "search", "fetch"}
)

// mayWrite reports whether the tool writes files, or does not say by its name that it only looks.
func (c *GateCall) mayWrite() bool {
	if verb := strings.Fields(c.gitWords()); len(verb) > 1 && slices.Contains(gitReads, verb[1]) {
		return c.Writes()
	}
	words := c.toolWords()
	return c.Writes() || !slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(readWords, word) || slices.ContainsFunc(readParts, func(part string) bool { return strings.Contains(word, part) })
	})
}

// toolWords returns the words of the tool's name in small letters, without those of an MCP server: read, file for mcp__fs__read_file and for ReadFile.
func (c *GateCall) toolWords() []string {
	name := c.Tool[strings.LastIndex(c.Tool, "__")+1:]
	var sb strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) || !unicode.IsLetter(r) {
			sb.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			sb.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(sb.String())
}

// runsCommands reports whether the tool runs commands, by its name. Whatever text it is given may be one.
func (c *GateCall) runsCommands() bool {
	return slices.ContainsFunc(c.toolWords(), func(word string) bool {
		return slices.Contains([]string{"exec", "execute", "run", "shell", "bash", "terminal", "term", "stdin", "console", "ssh", "tmux", "process", "cmd", "command", "powershell"}, word)
	})
}

// isForPeople reports whether an argument of this name is a text that people read, and that nothing runs.
func isForPeople(name string) bool {
	return slices.Contains([]string{"description", "title", "message", "justification", "explanation", "prompt", "reason"}, letters(name))
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

// anyText reports whether a text below the arguments, with the names that lead to it (edits.path), is one that is looked for. The words of a
// list are texts, and together a command. A name that may be a path is the text of a path.
func anyText(v any, name string, is func(name, text string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(name, v)
	case []any:
		if list, ok := scalars(v); ok && is(name, quoteWords(list)) {
			return true
		}
		return slices.ContainsFunc(v, func(inner any) bool { return anyText(inner, name, is) })
	case map[string]any:
		for key, inner := range v {
			if strings.ContainsAny(key, `./\%~`) && is(name+".path", key) || anyText(inner, name+"."+key, is) {
				return true
			}
		}
	}
	return false
}

// scalars returns the texts and the numbers of a list as words. It reports false for a list that holds something else.
func scalars(list []any) (words, bool) {
	out := make(words, 0, len(list))
	for _, v := range list {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case float64, bool:
			out = append(out, fmt.Sprint(v))
		default:
			return nil, false
		}
	}
	return out, true
}

// lastName returns the last of the names that lead to an argument.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// letters returns the last of the names that lead to an argument, in small letters and without marks between words.
func letters(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(lastName(name)))
}

// contentParts are parts of the names of arguments that hold what is written, or a text for people. contentNames are such names.
var (
	contentParts = []string{
		"content", "text", "string", "newstr", "oldstr", "body", "data", "descr", "title", "message", "prompt", "query", "pattern", "instruction", "comment", "summary",
		"reason", "explanation", "thought", "note", "justification",
	}
	contentNames = []string{"old", "new", "value", "search", "replace", "replacement"}
)

// isContentName reports whether an argument of this name holds what is written, and not where.
func isContentName(name string) bool {
	name = letters(name)
	return slices.Contains(contentNames, name) || slices.ContainsFunc(contentParts, func(part string) bool { return strings.Contains(name, part) })
}

// isPathName reports whether an argument is a path, by the names that lead to it.
func isPathName(name string) bool {
	if isContentName(name) {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"path", "file", "dest", "target", "source", "uri", "dir", "folder", "name"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// mayBePath reports whether a text is a path, by the name of its argument or by its form.
func mayBePath(name, text string) bool {
	if isPathName(name) {
		return true
	}
	scheme, _, hasScheme := strings.Cut(text, "://")
	switch {
	case isContentName(name) || strings.ContainsAny(text, "\n\r") || hasScheme && !strings.EqualFold(scheme, "file"):
		return false
	default:
		return !strings.ContainsFunc(text, unicode.IsSpace) || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, ".") || hasScheme
	}
}

// mostPaths bounds how many arguments are read as a folder and a name in it.
const mostPaths = 64

// joinedPaths returns the paths that two arguments may mean together, a folder and a name in it, and those whose parts stand in a list.
func joinedPaths(fields any) []string {
	var names, joined []string
	var collect func(name string, v any)
	collect = func(name string, v any) {
		switch v := v.(type) {
		case string:
			if mayBePath(name, v) {
				names = append(names, v)
			}
		case []any:
			if list, ok := scalars(v); ok && !isContentName(name) {
				joined = append(joined, path.Join(list...))
			}
			for _, inner := range v {
				collect(name, inner)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				collect(name+"."+key, v[key])
			}
		}
	}
	collect("", fields)
	names = names[:min(len(names), mostPaths)]
	for i, folder := range names {
		if !strings.ContainsAny(folder, `/\`) && !strings.HasPrefix(folder, ".") && !strings.HasPrefix(folder, "~") {
			continue
		}
		for j, name := range names {
			if i != j && !path.IsAbs(name) {
				joined = append(joined, path.Join(folder, name))
			}
		}
	}
	return joined
}

// Names of arguments, as [letters] writes them: of a program, of the words behind it and of a subcommand before these.
var (
	programNames = []string{"command", "cmd", "program", "executable", "exec", "binary", "bin", "exe", "name", "path", "file", "tool", "entrypoint", "process"}
	wordNames    = []string{"args", "arguments", "argv", "arg", "params", "parameters", "flags", "options", "cmdargs", "commandargs", "argslist", "arglist"}
)

// joinedCommands returns the command lines that several arguments make together: a program and its words. The words may begin with the
// program, or belong to git, if the tool is one for git.
func joinedCommands(c *GateCall, fields any) []string {
	git, isAlone := c.gitWords(), c.mayWrite() || c.runsCommands()
	var lines []string
	add := func(line string) {
		if lines = append(lines, line); git != "" {
			lines = append(lines, "git "+line)
		}
	}
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, inner := range v {
				collect(inner)
			}
		case map[string]any:
			for key, value := range v {
				collect(value)
				line, ok := wordsLine(value)
				if !ok || !slices.Contains(wordNames, letters(key)) {
					continue
				}
				if isAlone {
					add(line)
				}
				for other, program := range v {
					if first, ok := wordsLine(program); ok && other != key && (isCommand(other) || slices.Contains(programNames, letters(other)) || strings.Contains(letters(other), "sub")) {
						add(first + " " + line)
					}
				}
			}
		}
	}
	collect(fields)
	if object, ok := fields.(map[string]any); ok && git != "" {
		line := git
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if words, ok := wordsLine(object[key]); ok && !isContentName(key) || letters(key) == "value" {
				line += " " + cmp.Or(words, "x")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// wordsLine returns a text, or a list of words, as a part of a command line.
func wordsLine(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		list, ok := scalars(v)
		return quoteWords(list), ok
	default:
		return "", false
	}
}

// gitWords returns the command of git that the tool's name says, such as git remote add; empty if it names none.
func (c *GateCall) gitWords() string {
	words := strings.FieldsFunc(strings.ToLower(c.Tool), func(r rune) bool { return !unicode.IsLetter(r) })
	slices.Reverse(words)
	at := slices.Index(words, "git")
	if at < 0 {
		return ""
	}
	words = words[:at+1]
	slices.Reverse(words)
	return strings.Join(words, " ")
}
