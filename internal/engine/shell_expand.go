package engine

import (
	"io"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of expansion. A line beyond them is read without the values of its variables.
const (
	mostReadings   = 16  // of the words of one command, and values of one variable
	mostExpansions = 100 // variables within the words of one command
	longestValue   = 256 // bytes of a value
)

// decoded replaces the escapes of $'…' and of printf by what they stand for.
func decoded(text string) string {
	plain, _, err := expand.Format(&expand.Config{}, text, nil)
	if err != nil {
		return text
	}
	plain, _, _ = strings.Cut(plain, "\x00")
	return plain
}

// expands reports whether a part of the word is known only when the line runs. Numbers such as $? and $# do not count.
func expands(word *syntax.Word) bool {
	found := false
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ExtGlob:
			found = true
		case *syntax.ParamExp:
			found = found || n.Param == nil || !slices.Contains([]string{"?", "#", "$", "!", "-"}, n.Param.Value)
		}
		return !found
	})
	return found
}

// messageOptions are options of git and gh whose value is a text for people.
var messageOptions = []string{"-m", "-am", "-b", "-t", "--message", "--body", "--title", "--notes"}

// loosable returns the words of a command without the messages of git commit, gh pr and the like. A message in double
// quotes stays one word behind its option, and names no file.
func loosable(words []*syntax.Word) []*syntax.Word {
	if len(words) < 2 || !slices.Contains([]string{"git commit", "git tag", "git merge", "git notes", "gh pr", "gh issue"}, words[0].Lit()+" "+words[1].Lit()) {
		return words
	}
	var rest []*syntax.Word
	for i, word := range words {
		isMessage := i > 1 && len(word.Parts) == 1 && slices.Contains(messageOptions, words[i-1].Lit())
		if isMessage {
			_, isMessage = word.Parts[0].(*syntax.DblQuoted)
		}
		if !isMessage {
			rest = append(rest, word)
		}
	}
	return rest
}

// keep remembers values of a variable.
func (r *shellReader) keep(name string, values ...string) {
	for _, value := range values {
		if known := r.values[name]; len(value) <= longestValue && len(known) < mostReadings && !slices.Contains(known, value) {
			r.values[name] = append(known, value)
		}
	}
}

// assign remembers what a line assigns.
func (r *shellReader) assign(a *syntax.Assign) {
	if a.Name == nil || a.Value == nil {
		return
	}
	name, values := a.Name.Value, r.readings(a.Value)
	if a.Append {
		for _, before := range r.values[name] {
			for _, value := range values {
				r.keep(name, before+value)
			}
		}
	}
	r.keep(name, values...)
	for _, value := range values {
		r.settings = append(r.settings, name+"="+value)
	}
}

// readings returns what a word may become: its text as it stands, and with the values that the line gives to variables.
func (r *shellReader) readings(word *syntax.Word) []string {
	all := texts(word)
	for _, words := range r.expanded([]*syntax.Word{word}) {
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// expanded returns what words become with the values that the line itself gives to variables, and with the defaults of
// variables to which it gives none. What the line does not tell becomes *.
func (r *shellReader) expanded(words []*syntax.Word) [][]string {
	names, hasDefaults, isSimple := variables(words)
	names = slices.DeleteFunc(names, func(name string) bool { return len(r.values[name]) == 0 })
	if !isSimple || len(names) == 0 && !hasDefaults {
		return nil
	}
	var all [][]string
	for i := range mostReadings {
		chosen, rest := map[string]string{}, i
		for _, name := range names {
			known := r.values[name]
			chosen[name] = known[rest%len(known)]
			rest /= len(known)
		}
		if rest > 0 {
			break
		}
		for _, unknown := range []string{"*", ""} {
			if fields, ok := fieldsOf(words, chosen, unknown); ok && (unknown == "*" || hasDefaults) {
				all = append(all, fields)
			}
		}
	}
	return all
}

// fieldsOf returns the words that a shell makes of words, with the values of variables. A variable without a value is unknown.
func fieldsOf(words []*syntax.Word, values map[string]string, unknown string) ([]string, bool) {
	config := &expand.Config{
		Env: expand.FuncEnviron(func(name string) string {
			value, ok := values[name]
			switch {
			case ok:
				return value
			case name == "IFS" || name == "PWD":
				return ""
			case strings.HasPrefix(name, "HOME"):
				return "~" // else the names of the users of this machine would be looked up
			default:
				return unknown
			}
		}),
		CmdSubst:  func(w io.Writer, _ *syntax.CmdSubst) error { _, err := io.WriteString(w, "*"); return err },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "*", nil },
	}
	var fields []string
	for field, err := range expand.FieldsSeq(config, words...) {
		if err != nil || len(fields) == mostBraces*mostReadings {
			return nil, false
		}
		fields = append(fields, field)
	}
	return fields, true
}

// variables returns the names of the variables in words, and whether one has a default. It reports false if an expansion may compute
// or repeat a text, which has no bound.
func variables(words []*syntax.Word) (names []string, hasDefaults, isSimple bool) {
	found, count, simple := map[string]bool{}, 0, true
	for _, word := range words {
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			case *syntax.ArithmExp, *syntax.ExtGlob:
				simple = false
			case *syntax.ParamExp:
				count++
				if count > mostExpansions || n.Param == nil || n.Excl || n.Length || n.Width || n.Index != nil || n.Slice != nil || n.Repl != nil || n.Names != 0 {
					simple = false
					return false
				}
				found[n.Param.Value] = true
				if n.Exp != nil {
					hasDefaults = true
					simple = simple && slices.Contains([]syntax.ParExpOperator{
						syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
					}, n.Exp.Op)
				}
			}
			return simple
		})
	}
	return slices.Sorted(maps.Keys(found)), hasDefaults, simple
}
