package engine

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata"
)

// Bounds of expansion. A line beyond them is read without the values of its variables.
const (
	maxReadings   = 16  // readings of the words of one command, and values of one variable
	maxExpansions = 100 // variables within the words of one command
	maxValueBytes = 256 // bytes of a value
)

// decodeEscapes replaces the escapes of $'…' and of printf by the characters they mean.
func decodeEscapes(text string) string {
	plain, _, err := expand.Format(&expand.Config{}, text, nil)
	if err != nil {
		return text
	}
	plain, _, _ = strings.Cut(plain, "\x00")
	return plain
}

// hasExpansion reports whether a part of the word is known only when the line runs. Numbers such as $? and $# do not count.
func hasExpansion(word *syntax.Word) bool {
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

// withoutMessages returns the words of a command without the messages of git commit, gh pr and similar commands. A message
// in double quotes stays one word after its option, and names no file.
func withoutMessages(words []*syntax.Word) []*syntax.Word {
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

// addValues records values of a variable. If there are too many values or one is too long, the variable may have any
// value.
func (r *shellReader) addValues(name string, values ...string) {
	for _, value := range values {
		known := r.values[name]
		if len(value) > maxValueBytes || len(known) == maxReadings-1 {
			value = fermata.UnknownText
		}
		if len(known) < maxReadings && !slices.Contains(known, value) {
			r.values[name] = append(known, value)
		}
	}
}

// replacer returns the function that replaces the parts of a word that are known only at run time; see
// [replacementFor].
func (r *shellReader) replacer(word *syntax.Word) func(part syntax.WordPart) string {
	isKnown := r.areKnown([]*syntax.Word{word})
	return func(part syntax.WordPart) string { return replacementFor(part, isKnown) }
}

// areKnown reports whether the reader knows every text that the shell can make of the words. This is so if the line
// itself sets every variable in the words to values that it writes out. Harmless variables that the line does not set
// need no value.
func (r *shellReader) areKnown(words []*syntax.Word) bool {
	names, _, isSimple := findVariables(words)
	count := 1
	for _, name := range names {
		if slices.Contains(harmlessVariables, name) && len(r.values[name]) == 0 && !isChanged(words, name) {
			continue
		}
		count *= len(r.values[name])
		if count == 0 || count > maxReadings || slices.ContainsFunc(r.values[name], isUnknown) {
			return false
		}
	}
	return isSimple
}

// isChanged reports whether an expansion in words uses only a part of a variable, or changes it.
func isChanged(words []*syntax.Word, name string) bool {
	found := false
	for _, word := range words {
		syntax.Walk(word, func(n syntax.Node) bool {
			expansion, ok := n.(*syntax.ParamExp)
			found = found || ok && expansion.Param != nil && expansion.Param.Value == name && (expansion.Exp != nil || expansion.Repl != nil || expansion.Slice != nil)
			return !found
		})
	}
	return found
}

// harmlessVariables are variables that hold no name of a protected file, unless the line sets them.
var harmlessVariables = []string{"?", "#", "$", "!", "-", "PWD", "OLDPWD", "HOME", "TMPDIR", "RANDOM", "UID", "EUID", "PPID", "USER", "LOGNAME", "HOSTNAME", "SECONDS", "LINENO", "0"}

// replacementFor returns the replacement for a part of a word that is known only at run time. It is
// [fermata.UnknownText] for a part that may be any text, .git for a command that prints this folder, and * for any
// other part. isKnown reports whether the line sets all variables in the word.
func replacementFor(part syntax.WordPart, isKnown bool) string {
	switch part := part.(type) {
	case *syntax.ParamExp:
		isOrdinary := part.Param != nil && (part.Length || slices.Contains(harmlessVariables, part.Param.Value) && part.Exp == nil && part.Repl == nil && part.Slice == nil && !part.Excl)
		if isKnown || isOrdinary {
			return "*"
		}
		return fermata.UnknownText
	case *syntax.CmdSubst:
		return expandSubstitution(part)
	default:
		return "*"
	}
}

// expandSubstitution returns the replacement for the output of a command.
func expandSubstitution(n *syntax.CmdSubst) string {
	if len(n.Stmts) != 1 {
		return fermata.UnknownText
	}
	call, ok := n.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return fermata.UnknownText
	}
	words := make([]string, len(call.Args))
	for i, word := range call.Args {
		words[i] = word.Lit()
	}
	isGit := len(words) > 1 && words[0] == "git" && words[1] == "rev-parse"
	switch {
	case isGit && slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--git-") || word == "--absolute-git-dir" }):
		return ".git"
	case isGit, slices.Contains([]string{"pwd", "date", "mktemp", "nproc", "whoami", "hostname", "uname", "id", "seq"}, words[0]):
		return "*"
	default:
		return fermata.UnknownText
	}
}

// readings returns the texts that a word may become: its text as it is, and with the values that the line gives to
// variables.
func (r *shellReader) readings(word *syntax.Word) []string {
	var all []string
	for _, words := range r.expandWords([]*syntax.Word{word}) {
		all = append(all, strings.Join(words, " "))
	}
	if len(all) > 0 && r.areKnown([]*syntax.Word{word}) {
		return all
	}
	return append(r.textsOf(word), all...)
}

// expandWords returns the words with the values that the line itself gives to variables, and with the defaults of other
// variables. A part whose text the line does not contain becomes [fermata.UnknownText].
func (r *shellReader) expandWords(words []*syntax.Word) [][]string {
	names, hasDefaults, isSimple := findVariables(words)
	names = slices.DeleteFunc(names, func(name string) bool { return len(r.values[name]) == 0 })
	if !isSimple || len(names) == 0 && !hasDefaults {
		return nil
	}
	if len(r.values["IFS"]) > 1 && !slices.Contains(names, "IFS") {
		names = append(names, "IFS") // the line sets the characters between which words are split
	}
	var all [][]string
	for i := range maxReadings {
		chosen, rest := map[string]string{}, i
		for _, name := range names {
			known := r.values[name]
			chosen[name] = known[rest%len(known)]
			rest /= len(known)
		}
		if rest > 0 {
			break
		}
		for _, unknown := range []string{fermata.UnknownText, ""} {
			if fields, ok := fieldsOf(words, chosen, unknown); ok && (unknown != "" || hasDefaults) {
				all = append(all, fields)
			}
		}
	}
	return all
}

// fieldsOf returns the words that a shell makes of words with these values of variables. A variable without a value
// gets the value unknown.
func fieldsOf(words []*syntax.Word, values map[string]string, unknown string) (fields []string, ok bool) {
	// The library may panic on a pattern that no shell accepts.
	defer func() {
		if recover() != nil {
			fields, ok = nil, false
		}
	}()
	config := &expand.Config{
		Env: lineValues{values, unknown},
		CmdSubst: func(w io.Writer, n *syntax.CmdSubst) error {
			_, err := io.WriteString(w, expandSubstitution(n))
			return err
		},
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "*", nil },
	}
	for field, err := range expand.FieldsSeq(config, words...) {
		if err != nil || len(fields) == maxBraces*maxReadings {
			return nil, false
		}
		fields = append(fields, field)
	}
	return fields, true
}

// lineValues are the values of variables, and the value of variables without one.
type lineValues struct {
	values  map[string]string
	unknown string
}

// Get returns the value of a variable.
func (v lineValues) Get(name string) expand.Variable {
	value, ok := v.values[name]
	switch {
	case ok:
	case name == "IFS" || name == "PWD":
	case strings.HasPrefix(name, "HOME"):
		value = "~" // otherwise expand would look up the users of this machine
	case slices.Contains(harmlessVariables, name):
		value = "*"
	default:
		value = v.unknown
	}
	switch {
	case value == "":
		return expand.Variable{}
	case name == "@" || name == "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: strings.Fields(value)}
	default:
		return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
	}
}

// Each calls nothing, because no part of a line needs all variables.
func (lineValues) Each(func(name string, v expand.Variable) bool) {}

// findVariables returns the names of the variables in words, and whether one has a default. isSimple is false if an
// expansion may compute or repeat a text, because the result would have no bound.
func findVariables(words []*syntax.Word) (names []string, hasDefaults, isSimple bool) {
	found, count, simple := map[string]bool{}, 0, true
	for _, word := range words {
		simple = simple && countBraces(word) <= maxBraces
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			case *syntax.ArithmExp, *syntax.ExtGlob:
				simple = false
			case *syntax.ParamExp:
				count++
				if count > maxExpansions || !isBounded(n) {
					simple = false
					return false
				}
				found[n.Param.Value] = true
				hasDefaults = hasDefaults || n.Exp != nil && slices.Contains(defaultOperators, n.Exp.Op)
			}
			return simple
		})
	}
	return slices.Sorted(maps.Keys(found)), hasDefaults, simple
}

// defaultOperators are the operators that give a text to a variable without a value. removalOperators are
// the operators that remove a part of a value.
var (
	defaultOperators = []syntax.ParExpOperator{syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull}
	removalOperators = []syntax.ParExpOperator{syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.LowerAll, syntax.LowerFirst, syntax.UpperAll, syntax.UpperFirst}
)

// isBounded reports whether the result of an expansion has a bounded length: the value, a default, a part of the
// value, or the value with fixed replacements.
func isBounded(n *syntax.ParamExp) bool {
	isFixed := func(word *syntax.Word) bool {
		if word == nil {
			return true
		}
		text, fixed := wordText(&syntax.Word{Parts: word.Parts}, func(syntax.WordPart) string { return "" })
		return (fixed || !hasExpansion(word)) && len(text) <= maxValueBytes
	}
	switch {
	case n.Param == nil || n.Excl || n.Length || n.Width || n.IsSet || n.Index != nil || n.Names != 0:
		return false
	case n.Slice != nil:
		return isNumber(n.Slice.Offset) && isNumber(n.Slice.Length)
	case n.Repl != nil:
		return isFixed(n.Repl.Orig) && isFixed(n.Repl.With)
	case n.Exp != nil:
		return slices.Contains(defaultOperators, n.Exp.Op) || slices.Contains(removalOperators, n.Exp.Op) && isFixed(n.Exp.Word)
	default:
		return true
	}
}

// isNumber reports whether a part of an expansion is a plain number or missing.
func isNumber(n syntax.ArithmExpr) bool {
	switch n := n.(type) {
	case nil:
		return true
	case *syntax.Word:
		_, err := strconv.Atoi(n.Lit())
		return err == nil
	case *syntax.ParenArithm:
		return isNumber(n.X)
	case *syntax.UnaryArithm:
		return n.Op == syntax.Minus && isNumber(n.X)
	default:
		return false
	}
}
