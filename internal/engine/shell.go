package engine

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata"
)

// readShell returns the commands that a command line runs. A line that it cannot parse is not plain, and the whole line
// is an uncertain call.
func readShell(command string) fermata.ShellLine {
	r := newShellReader()
	file := r.parse(command)
	if file == nil {
		// A rule that denies may still recognise parts of the line.
		parts := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(";&|\n()`", c) })
		calls := make([][]string, len(parts))
		for i, part := range parts {
			calls[i] = strings.Fields(part)
			parts[i] = strings.Join(calls[i], " ")
		}
		return fermata.ShellLine{Commands: parts, Calls: calls, UncertainCalls: [][]string{{command}}, Texts: []string{command}, WrittenFiles: redirectTargets(command)}
	}
	r.walk(file, 0)
	r.expandInputs()
	// A variable may get its value after the word that uses it, as the parameters of a function do. The second pass
	// knows all values.
	r = r.fork()
	r.walk(file, 0)
	r.expandInputs()
	return fermata.ShellLine{
		Plain: isPlain(command, file), Commands: r.commands, Calls: r.calls, UncertainCalls: r.loose,
		Assignments: r.settings, Texts: r.texts, WrittenFiles: r.writes,
	}
}

// redirectTargets returns the word after each > of a line that cannot be parsed.
func redirectTargets(command string) []string {
	var words []string
	for _, rest := range strings.Split(command, ">")[1:] {
		if fields := strings.FieldsFunc(rest, func(c rune) bool { return strings.ContainsRune(" \t\r\n;&|()<`\"'", c) }); len(fields) > 0 {
			words = append(words, fields[0])
		}
	}
	return words
}

type shellReader struct {
	commands, writes, settings, texts []string
	calls, loose                      [][]string
	// values are the values that the line itself gives to its variables.
	values map[string][]string
	// inputs are the texts that the line prints, or gives to the standard input of a command.
	inputs []string
	// inputCommands are the commands to which xargs or parallel adds words. runsInput reports whether a command may run
	// the inputs as commands.
	inputCommands []inputCommand
	runsInput     bool
	// startedCount is the number of commands that other commands start from their words. hiddenCount is the number of
	// commands that they may start. lineCount is the number of words that were read as command lines. notedBytes is the
	// number of bytes of all commands.
	startedCount, hiddenCount, lineCount, notedBytes int
	// functions are the functions that the line declares. inputVariables are the variables that get their values from
	// the inputs. shifts reports whether the line shifts positional parameters.
	functions      map[string]bool
	inputVariables []string
	shifts         bool
	// knownInputs are the commands whose input the line itself prints. isInputKnown reports whether one of them is
	// being read.
	knownInputs  map[*syntax.CallExpr]bool
	isInputKnown bool
}

func newShellReader() *shellReader {
	return &shellReader{
		values: map[string][]string{"IFS": {" "}, "HOME": {"~"}, "PWD": {"."}}, functions: map[string]bool{}, knownInputs: map[*syntax.CallExpr]bool{},
	}
}

// fork returns a reader that already knows the values and the functions of the line.
func (r *shellReader) fork() *shellReader {
	return &shellReader{values: r.values, functions: r.functions, shifts: r.shifts, knownInputs: r.knownInputs}
}

func (*shellReader) parse(command string) *syntax.File {
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
		if _, fixed := wordText(word, func(syntax.WordPart) string { return "" }); !fixed {
			return false
		}
	}
	return true
}

// wordText removes the quotes of a word, and reports whether its text is the same at every run. A text with file
// patterns, ~ or braces is not. For a part that is known only at run time, unknown returns the replacement.
func wordText(word *syntax.Word, unknown func(part syntax.WordPart) string) (string, bool) {
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
			if part.Dollar {
				sb.WriteString(decodeEscapes(part.Value))
				continue
			}
			sb.WriteString(part.Value)
		case *syntax.DblQuoted:
			fixed = fixed && !part.Dollar
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					fixed = false
					sb.WriteString(unknown(inner))
					continue
				}
				sb.WriteString(lit.Value)
			}
		default:
			fixed = false
			sb.WriteString(unknown(part))
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

// maxShellDepth is the largest depth of command lines within command lines that is read.
const maxShellDepth = 4

// walk collects every command, every file that is written and every text, including those in substitutions.
func (r *shellReader) walk(node syntax.Node, depth int) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			r.addCall(n, depth)
		case *syntax.FuncDecl:
			r.functions[n.Name.Value] = true
		case *syntax.BinaryCmd:
			r.recordPipe(n)
		case *syntax.Stmt:
			r.recordHereString(n)
		case *syntax.Redirect:
			r.recordRedirect(n)
		case *syntax.Word:
			r.texts = append(r.texts, r.textsOf(n)...)
		case *syntax.ExtGlob:
			r.texts = append(r.texts, n.Pattern.Value)
		default:
			r.recordAssignments(n)
		}
		return true
	})
}

// walkLine collects the commands of a command line within another one.
func (r *shellReader) walkLine(line string, depth int) {
	if depth > maxShellDepth {
		return
	}
	if file := r.parse(line); file != nil {
		r.walk(file, depth)
	}
}

func (r *shellReader) recordRedirect(n *syntax.Redirect) {
	if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
		r.setValues(strings.Trim(n.N.Value, "{}"), "*")
	}
	switch {
	case n.Hdoc != nil:
		r.inputs = append(r.inputs, r.textsOf(n.Hdoc)...)
	case n.Word == nil:
	case n.Op == syntax.WordHdoc:
		r.inputs = append(r.inputs, r.readings(n.Word)...)
	case isWrite(n.Op):
		r.writes = append(r.writes, r.readings(n.Word)...)
		if hasExpansion(n.Word) {
			r.loose = append(r.loose, append([]string{">"}, r.textsOf(n.Word)...))
		}
	}
}

// isWrite reports whether a redirection writes the file that it names.
func isWrite(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.DplOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return true
	default:
		return false
	}
}

func (r *shellReader) addCall(call *syntax.CallExpr, depth int) {
	args := make([]string, 0, len(call.Args))
	for _, word := range call.Args {
		args = append(args, r.textsOf(word)...)
	}
	if !r.areKnown(call.Args) {
		// The words together have unknown texts, even if each word alone has known ones. So the values of variables do
		// not count.
		args = args[:0]
		for _, word := range call.Args {
			args = append(args, r.textsWithoutValues(word)...)
		}
	}
	if len(call.Args) > 0 && r.knownInputs[call] {
		r.isInputKnown = true
		defer func() { r.isInputKnown = false }()
	}
	r.addWords(args, depth)
	for _, words := range r.expandWords(call.Args) {
		r.addWords(words, depth)
	}
	if slices.ContainsFunc(withoutMessages(call.Args), hasExpansion) {
		r.loose = append(r.loose, args)
		r.runsInput = r.runsInput || hasExpansion(call.Args[0])
	}
}

// maxBraces is the largest number of words that one word with braces may become.
const maxBraces = 64

// textsOf returns the words that a shell makes of a word with braces; .{git,x}/config gives two. If there are too many,
// it returns one word, with * in place of each pair of braces.
func (r *shellReader) textsOf(word *syntax.Word) []string {
	return expandBraces(word, r.replacer(word))
}

// textsWithoutValues is [shellReader.textsOf] with the values of all variables unknown.
func (*shellReader) textsWithoutValues(word *syntax.Word) []string {
	return expandBraces(word, func(part syntax.WordPart) string { return replacementFor(part, false) })
}

// countBraces returns the number of opening braces in the fixed texts of a word.
func countBraces(word *syntax.Word) int {
	count := 0
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			count += strings.Count(lit.Value, "{")
		}
	}
	return count
}

// expandBraces returns the words that a shell makes of a word with braces.
func expandBraces(word *syntax.Word, unknown func(part syntax.WordPart) string) []string {
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if !syntax.SplitBraces(split) {
		text, _ := wordText(word, unknown)
		return []string{text}
	}
	if countBraces(word) > maxBraces {
		text, _ := wordText(split, unknown)
		return []string{text}
	}
	var all []string
	for each, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(all) == maxBraces {
			text, _ := wordText(split, unknown)
			return []string{text}
		}
		text, _ := wordText(each, unknown)
		all = append(all, text)
	}
	return all
}

// maxNotedBytes is the largest number of bytes of all commands. For a longer line, a git command with unknown words is
// added, so that a person is asked.
const maxNotedBytes = 4 << 20

// addCommand adds a command as it is, and under its bare name.
func (r *shellReader) addCommand(args []string) {
	if r.notedBytes > maxNotedBytes {
		return
	}
	for _, word := range args {
		r.notedBytes += len(word) + 1
	}
	if r.notedBytes > maxNotedBytes {
		args = []string{"git", fermata.UnknownText}
	}
	r.commands, r.calls = append(r.commands, strings.ReplaceAll(strings.Join(args, " "), fermata.UnknownText, "*")), append(r.calls, args)
	if bare := bareCommand(args); bare[0] != args[0] {
		r.addCommand(bare)
	}
}

// bareCommand returns a command without its folder and without the .exe of Windows. A program such as git-config
// becomes git and its subcommand.
func bareCommand(args []string) []string {
	name := path.Base(args[0])
	if low := strings.ReplaceAll(strings.TrimSuffix(strings.ToLower(name), ".exe"), fermata.UnknownText, ""); isWatched(low) {
		name = low
	}
	if verb, ok := strings.CutPrefix(name, "git-"); ok && verb != "" {
		return append([]string{"git", verb}, args[1:]...)
	}
	if name == args[0] {
		return args
	}
	return append([]string{name}, args[1:]...)
}

// addWords adds a command and the commands that it starts.
func (r *shellReader) addWords(args []string, depth int) {
	if len(args) == 0 || depth > maxShellDepth {
		return
	}
	r.addCommand(args)
	args = bareCommand(args)
	name := args[0]
	if r.functions[name] || name == "set" {
		r.setPositional(args[1:])
	}
	r.addHidden(args)
	start := commandStart(args)
	if start < 0 {
		r.addStartedBy(args, depth)
		return
	}
	// Flags and settings may come before the command, so the command may begin at each of these words.
	for i := start; i < len(args) && r.notedBytes <= maxNotedBytes; i++ {
		r.addCommand(args[i:])
		if i == start || !strings.HasPrefix(args[i], "-") {
			r.addStartedBy(bareCommand(args[i:]), depth)
		}
		if variable, value, isSetting := strings.Cut(args[i], "="); isSetting {
			r.settings = append(r.settings, args[i])
			r.addValues(variable, value)
		}
		if isInputLauncher(name) {
			// xargs adds the words that it reads after the others.
			r.addCommand(append(slices.Clone(args[i:]), "*", "*"))
		}
		r.readLineOf(args[i:], depth)
		if rest := bareCommand(args[i:]); isInputLauncher(rest[0]) && depth < maxShellDepth {
			r.addWords(rest, depth+1)
			break // addWords has read the remaining words
		}
	}
	if isInputLauncher(name) {
		r.addInputCommand(name, args[1:])
	}
}

// maxStarted is the largest number of commands that are read because other commands start them from their words.
const maxStarted = 32

// addStarted adds a command that find or git starts from its words. If there are too many, it adds a git command with
// unknown words instead, so that a person is asked.
func (r *shellReader) addStarted(args []string, depth int) {
	switch {
	case len(args) == 0 || r.startedCount > maxStarted:
	case r.startedCount == maxStarted || depth >= maxShellDepth:
		r.startedCount++
		r.addCommand([]string{"git", fermata.UnknownText})
	default:
		r.startedCount++
		r.addWords(args, depth+1)
	}
}

// addStartedBy adds the commands that a command starts from its words, and notes whether it reads commands from its input.
func (r *shellReader) addStartedBy(args []string, depth int) {
	switch name := path.Base(args[0]); {
	case name == "echo" || name == "printf":
		r.recordPrinted(name, args[1:])
	case slices.Contains(settingCommands, name):
		r.setFromInput(args[1:])
	case name == "shift":
		r.shifts = true
	case name == "find":
		for i := 0; i < len(args); i++ {
			if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, args[i]) {
				command := wordsBeforeEnd(args[i+1:])
				r.addStarted(command, depth)
				i += len(command)
			}
		}
	case name == "git":
		for _, line := range gitCommandLines(args) {
			r.walkLine(line, depth+1)
		}
		r.addStarted(gitStartedCommand(args), depth)
	case name == "eval":
		r.walkLine(strings.Join(args[1:], " "), depth+1)
		r.runsInput = r.runsInput || slices.ContainsFunc(args[1:], isUnknown)
	case name == "trap" || slices.Contains(shells, name):
		if at := slices.IndexFunc(args[1:], func(word string) bool { return !strings.HasPrefix(word, "-") }); at >= 0 {
			r.addValues("0", args[min(at+2, len(args)):min(at+3, len(args))]...)
			r.setPositional(args[min(at+3, len(args)):]) // the words after the command line and its $0
		}
		for _, line := range args[1:] {
			if !strings.HasPrefix(line, "-") {
				r.walkLine(line, depth+1)
			}
		}
		r.runsInput = r.runsInput || slices.ContainsFunc(args[1:], isUnknown)
	}
	if readsCommands(args) {
		r.loose, r.runsInput = append(r.loose, args), true
	}
}

// isUnknown reports whether a word has a part whose text the line does not contain.
func isUnknown(word string) bool { return strings.Contains(word, fermata.UnknownText) }
