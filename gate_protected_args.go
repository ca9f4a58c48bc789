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

// foldersOf returns the folders that the call names as its working folder.
func foldersOf(c *GateCall, fields any) []string {
	var folders []string
	if c.Dir != "" {
		folders = append(folders, c.Dir)
	}
	hasMatchingText(fields, "", func(name, text string) bool {
		if isWorkFolder(name) {
			folders = append(folders, text)
		}
		return false
	})
	return folders
}

// workFolders are argument names for the folder of a call, in small letters and without separators. Claude Code and
// ACP use cwd, Codex and opencode use workdir. Gemini CLI uses dir_path, in older versions directory.
var workFolders = []string{
	"cwd", "dir", "dirpath", "dirname", "directory", "directorypath", "workdir", "workdirectory", "workingdir", "workingdirectory", "workingfolder",
	"currentdir", "currentdirectory", "currentworkingdirectory", "basedir", "rootdir", "root", "folder", "folderpath", "chdir", "workspace",
}

// isWorkFolder reports whether an argument of this name is the folder in which a command runs and where relative paths begin.
func isWorkFolder(name string) bool { return slices.Contains(workFolders, plainArgumentName(name)) }

// Writes reports whether the name of the tool says that it writes files.
func (c *GateCall) Writes() bool {
	tool := strings.ToLower(c.Tool)
	return slices.ContainsFunc(writeWords, func(word string) bool { return strings.Contains(tool, word) })
}

// Paths returns the files that the arguments name, including those of patches. It does not say whether the tool reads
// or writes them.
func (c *GateCall) Paths() []string {
	var fields any
	if json.Unmarshal(c.Input, &fields) != nil {
		return nil
	}
	var paths []string
	hasMatchingText(fields, "", func(name, text string) bool {
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

// readWords are words in the names of tools that only read. readParts are parts of such words.
var (
	readWords = []string{
		"get", "list", "find", "grep", "glob", "ls", "view", "show", "look", "query", "describe", "stat", "status", "tree", "diff", "log", "check", "count", "info",
		"browse", "inspect", "lint", "task", "agent", "skill", "think", "ask", "todo", "monitor",
	}
	readParts = []string{"read", "search", "fetch"}
)

// mayWrite reports whether the tool may write files. It may, unless its name says that it only reads.
func (c *GateCall) mayWrite() bool {
	if verb := strings.Fields(c.gitWords()); len(verb) > 1 && slices.Contains(gitCommandsWithoutOutput, verb[1]) {
		return c.Writes()
	}
	words := c.toolWords()
	return c.Writes() || !slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(readWords, word) || slices.ContainsFunc(readParts, func(part string) bool { return strings.Contains(word, part) })
	})
}

// toolWords returns the words of the tool's name in small letters, without the name of an MCP server. For
// mcp__fs__read_file and for ReadFile, the words are read and file.
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

// runsCommands reports whether the name of the tool says that it runs commands. Any text argument of such a tool may
// be a command.
func (c *GateCall) runsCommands() bool {
	return slices.ContainsFunc(c.toolWords(), func(word string) bool {
		return slices.Contains([]string{"exec", "execute", "run", "shell", "bash", "terminal", "term", "stdin", "console", "ssh", "tmux", "process", "cmd", "command", "powershell"}, word)
	})
}

// isForPeople reports whether an argument of this name is a text for people, which nothing runs.
func isForPeople(name string) bool {
	return slices.Contains([]string{"description", "title", "message", "justification", "explanation", "prompt", "reason"}, plainArgumentName(name))
}

// isPatchName reports whether an argument of this name is a patch. The name must say so, because the content of a
// file may look like a patch.
func isPatchName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"patch", "diff", "input"}, func(part string) bool { return strings.Contains(name, part) })
}

// writeWords are parts of the names of tools that write files.
var writeWords = []string{
	"write", "edit", "patch", "create", "replace", "insert", "update", "append", "save", "delete", "remove", "move", "rename", "copy", "put", "touch",
}

// hasMatchingText reports whether the callback accepts any text below the arguments. The callback gets the text and
// the names that lead to it, such as edits.path. For a list of words, the callback gets all words as one command, and
// then each word. If an object key looks like a path, the callback gets the key as the text of a path.
func hasMatchingText(v any, name string, matches func(name, text string) bool) bool {
	switch v := v.(type) {
	case string:
		return matches(name, v)
	case []any:
		if list, ok := scalarWords(v); ok && matches(name, quoteWords(list)) {
			return true
		}
		return slices.ContainsFunc(v, func(inner any) bool { return hasMatchingText(inner, name, matches) })
	case map[string]any:
		for key, inner := range v {
			if strings.ContainsAny(key, `./\%~`) && matches(name+".path", key) || hasMatchingText(inner, name+"."+key, matches) {
				return true
			}
		}
	}
	return false
}

// scalarWords returns the strings, numbers and booleans of a list as words. It returns false if the list holds anything else.
func scalarWords(list []any) (wordList, bool) {
	out := make(wordList, 0, len(list))
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

// plainArgumentName returns the last of the names that lead to an argument, in small letters and without separators.
func plainArgumentName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(lastName(name)))
}

// contentParts are parts of the names of arguments that hold written content or a text for people. contentNames are
// whole names of such arguments.
var (
	contentParts = []string{
		"content", "text", "string", "newstr", "oldstr", "body", "data", "descr", "title", "message", "prompt", "query", "pattern", "instruction", "comment", "summary",
		"reason", "explanation", "thought", "note", "justification",
	}
	contentNames = []string{"old", "new", "value", "search", "replace", "replacement"}
)

// isContentName reports whether an argument of this name holds written content, and not the place to write it.
func isContentName(name string) bool {
	name = plainArgumentName(name)
	return slices.Contains(contentNames, name) || slices.ContainsFunc(contentParts, func(part string) bool { return strings.Contains(name, part) })
}

// isPathName reports whether the names that lead to an argument say that it is a path.
func isPathName(name string) bool {
	if isContentName(name) {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"path", "file", "dest", "target", "source", "uri", "dir", "folder", "name"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// mayBePath reports whether a text may be a path, by the name of its argument or by its form.
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

// maxPaths is the maximum number of path arguments that are combined as a folder and a name in it.
const maxPaths = 64

// joinedPaths returns the paths that several arguments may mean together: a folder and a name in it, or the parts of
// a path in a list.
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
			if list, ok := scalarWords(v); ok && !isContentName(name) {
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
	names = names[:min(len(names), maxPaths)]
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

// Names of arguments in the form that [plainArgumentName] returns: names for a program, and names for the words that follow it.
var (
	programNames = []string{"command", "cmd", "program", "executable", "exec", "binary", "bin", "exe", "name", "path", "file", "tool", "entrypoint", "process"}
	wordNames    = []string{"args", "arguments", "argv", "arg", "params", "parameters", "flags", "options", "cmdargs", "commandargs", "argslist", "arglist"}
)

// joinedCommands returns the command lines that several arguments make together: a program and its words. The words
// may already begin with the program. For a git tool, they may belong to git.
func joinedCommands(c *GateCall, fields any) []string {
	git, mayStandAlone := c.gitWords(), c.mayWrite() || c.runsCommands()
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
				line, ok := commandLineOf(value)
				if !ok || !slices.Contains(wordNames, plainArgumentName(key)) {
					continue
				}
				if mayStandAlone {
					add(line)
				}
				for other, program := range v {
					if first, ok := commandLineOf(program); ok && other != key && (isCommand(other) || slices.Contains(programNames, plainArgumentName(other)) || strings.Contains(plainArgumentName(other), "sub")) {
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
			if words, ok := commandLineOf(object[key]); ok && !isContentName(key) || plainArgumentName(key) == "value" {
				line += " " + cmp.Or(words, "x")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// commandLineOf returns a text or a list of words as a part of a command line.
func commandLineOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		list, ok := scalarWords(v)
		return quoteWords(list), ok
	default:
		return "", false
	}
}

// gitWords returns the git command in the name of the tool, such as git remote add. It is empty if the name holds none.
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
