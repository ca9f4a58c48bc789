package engine

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata"
)

// readShell says what a command line runs. What it cannot read is not plain.
func readShell(command string) fermata.Shell {
	r := shellReader{}
	file := r.parse(command)
	if file == nil {
		// Parts of it may still be recognised by a rule that denies.
		parts := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(";&|\n()`", c) })
		for i, part := range parts {
			parts[i] = strings.Join(strings.Fields(part), " ")
		}
		return fermata.Shell{Commands: parts, Writes: behindArrows(command)}
	}
	r.walk(file, 0)
	return fermata.Shell{Plain: isPlain(command, file), Commands: r.commands, Writes: r.writes}
}

// behindArrows lists the words behind each > of a line that cannot be read as a whole.
func behindArrows(command string) []string {
	var words []string
	for _, rest := range strings.Split(command, ">")[1:] {
		if fields := strings.FieldsFunc(rest, func(c rune) bool { return strings.ContainsRune(" \t\r\n;&|()<`\"'", c) }); len(fields) > 0 {
			words = append(words, fields[0])
		}
	}
	return words
}

type shellReader struct{ commands, writes []string }

func (shellReader) parse(command string) *syntax.File {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	return file
}

// isPlain reports whether the line is one simple command with fixed words.
func isPlain(command string, file *syntax.File) bool {
	if len(file.Stmts) != 1 || len(file.Last) > 0 || strings.ContainsAny(command, "\n\r") || strings.HasSuffix(command, `\`) {
		return false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown || stmt.Semicolon.IsValid() ||
		len(stmt.Redirs) > 0 || len(stmt.Comments) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return false
	}
	for _, word := range call.Args {
		if _, fixed := wordText(word); !fixed {
			return false
		}
	}
	return true
}

// wordText takes the quotes off a word, and reports whether its text is the
// same whenever it runs. File patterns, ~ and braces are not.
func wordText(word *syntax.Word) (string, bool) {
	var sb strings.Builder
	fixed := true
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[{") || i == 0 && strings.ContainsAny(part.Value[:min(1, len(part.Value))], "~=") {
				fixed = false
			}
			sb.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			fixed = fixed && !part.Dollar
			sb.WriteString(part.Value)
		case *syntax.DblQuoted:
			fixed = fixed && !part.Dollar
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					fixed = false
					sb.WriteByte('*')
					continue
				}
				sb.WriteString(lit.Value)
			}
		default:
			fixed = false
			sb.WriteByte('*')
		}
	}
	return sb.String(), fixed
}

func unescape(s string) string {
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}

// mostShells bounds how deep command lines within command lines are followed.
const mostShells = 4

// walk collects every command and every file that is written, also those within substitutions.
func (r *shellReader) walk(node syntax.Node, depth int) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			r.add(n, depth)
		case *syntax.Redirect:
			if writes(n.Op) && n.Word != nil {
				r.writes = append(r.writes, texts(n.Word)...)
			}
		}
		return true
	})
}

// writes reports whether a redirection writes the file that it names.
func writes(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.DplOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return true
	default:
		return false
	}
}

func (r *shellReader) add(call *syntax.CallExpr, depth int) {
	args := make([]string, 0, len(call.Args))
	for _, word := range call.Args {
		args = append(args, texts(word)...)
	}
	r.addWords(args, depth)
}

// mostBraces bounds how many words are made of one word with braces.
const mostBraces = 64

// texts returns the words that a shell makes of a word with braces, two of .{git,x}/config. If there are too many, it returns one
// word with a pattern for everything in the place of each pair of braces.
func texts(word *syntax.Word) []string {
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if !syntax.SplitBraces(split) {
		text, _ := wordText(word)
		return []string{text}
	}
	var all []string
	for each, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(all) == mostBraces {
			text, _ := wordText(split)
			return []string{text}
		}
		text, _ := wordText(each)
		all = append(all, text)
	}
	return all
}

// addWords notes a command as it stands, under its bare name, and what it
// starts in its turn.
func (r *shellReader) addWords(args []string, depth int) {
	if len(args) == 0 || depth > mostShells {
		return
	}
	r.commands = append(r.commands, strings.Join(args, " "))
	name := path.Base(args[0])
	if name != args[0] {
		r.commands = append(r.commands, strings.Join(append([]string{name}, args[1:]...), " "))
	}
	switch name {
	case "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "time", "timeout", "xargs", "stdbuf", "setsid":
		// Flags and settings may stand between: every rest may be the command.
		for i := 1; i < len(args); i++ {
			r.commands = append(r.commands, strings.Join(args[i:], " "))
			if i == 1 || !strings.HasPrefix(args[i], "-") {
				r.within(args[i:], depth)
			}
			if name == "xargs" {
				// xargs adds the words that it reads at the end.
				r.commands = append(r.commands, strings.Join(args[i:], " ")+" * *")
			}
		}
	default:
		r.within(args, depth)
	}
}

// within follows the command line that a shell is given as one of its words.
func (r *shellReader) within(args []string, depth int) {
	switch path.Base(args[0]) {
	case "sh", "bash", "zsh", "dash", "ksh", "eval", "trap":
	default:
		return
	}
	lines := args[1:]
	if path.Base(args[0]) == "eval" {
		lines = []string{strings.Join(args[1:], " ")}
	}
	for _, line := range lines {
		if file := r.parse(line); file != nil && depth < mostShells && !strings.HasPrefix(line, "-") {
			r.walk(file, depth+1)
		}
	}
}
