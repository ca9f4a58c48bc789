package fermata

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// GateOrigin is the project, task and session from which a call comes. A rule may apply to one of them only.
type GateOrigin struct {
	Project, TaskID, SessionKey string
	// SessionOwner is the owner of the session.
	SessionOwner Actor
}

// OriginOf returns the origin of a task's calls.
func OriginOf(t *Task) GateOrigin {
	return GateOrigin{Project: t.Project, TaskID: t.ID, SessionKey: t.SessionKey, SessionOwner: t.CreatedBy}
}

// UnknownText replaces, in the words of a [ShellLine], the text that the command
// line does not reveal.
const UnknownText = "**"

// ShellLine is the result of reading a command line as shell code.
type ShellLine struct {
	// Plain is true if the line is one command with fixed words. The line then
	// has no operator, redirection, substitution, expansion or second line.
	Plain bool
	// Commands are all commands that the line runs, without quotes. They
	// include commands inside substitutions and inside sh -c.
	Commands []string
	// Calls are the same commands as lists of words. They also include the commands that these commands start from
	// their words, as find -exec does. An [UnknownText] in a word replaces text that neither the line nor its
	// surroundings reveal.
	Calls [][]string
	// UncertainCalls are the commands whose words are not fully known. Such a command contains a variable or a substitution.
	// Or it takes words or commands from its input, as xargs or a shell without a script does. A redirection to a
	// file with an unknown name is listed as the command >.
	UncertainCalls [][]string
	// Assignments are the variables that the line sets, as NAME=value.
	Assignments []string
	// Texts are all words of the line, including the words of here-documents
	// and of variable values.
	Texts []string
	// WrittenFiles are the files that redirections of the line write.
	WrittenFiles []string
}

// ReadShell is a function that reads a command line.
type ReadShell func(command string) ShellLine

// Ruling is the decision of the rules on a call.
type Ruling struct {
	Decision GateDecision
	// HaltReason is the reason why nothing may run for the task at all. It takes
	// precedence over every rule.
	HaltReason string
	// Rule is the rule that decided. It is nil if no rule matched and the
	// policy's default decision applies.
	Rule *GateRule
}

// JudgeCall returns the decision of the rules on a call. Deny wins over ask, and ask wins over allow. Among equal
// decisions, the ruling names the most specific rule. If no rule matches, the policy decides. A call that writes
// files by which git or an agent program starts programs needs a question, unless an allow rule names these files:
// see [ProtectedRule] and [ProtectedAgentRule].
//
// Allow rules match more strictly than the others, so that no input can trick them. The pattern of an allow rule
// matches a command line only if that is a single plain command. It matches other text only if nothing can hide in
// it. The pattern of a deny or ask rule matches if any part of the command line does.
func JudgeCall(c *GateCall, origin GateOrigin, rules []*GateRule, p Policy, read ReadShell, now time.Time) Ruling {
	var fields any
	if json.Unmarshal(c.Input, &fields) != nil {
		return Ruling{Decision: GateDeny}
	}
	var matching []*GateRule
	for _, r := range rules {
		if r.IsLive(now) && r.appliesTo(origin) && r.matches(c.Tool, fields, read) {
			matching = append(matching, r)
		}
	}
	for _, p := range protections {
		if p.isWrittenBy(c, fields, read) && !slices.ContainsFunc(matching, p.isAllowedBy) {
			matching = append(matching, p.rule(c.Tool))
		}
	}
	if len(matching) == 0 {
		return Ruling{Decision: p.DefaultGateDecision()}
	}
	best := slices.MinFunc(matching, func(a, b *GateRule) int {
		return cmp.Or(
			cmp.Compare(a.Decision.strength(), b.Decision.strength()),
			// An allow rule without a maximum comes first, because its uses need no counting.
			cmp.Compare(a.Uses, b.Uses)*boolToInt(a.Decision == GateAllow && (a.Uses == 0 || b.Uses == 0)),
			cmp.Compare(b.specificity(), a.specificity()),
			strings.Compare(a.ID, b.ID),
		)
	})
	return Ruling{Decision: best.Decision, Rule: best}
}

// RiskOfCall returns the highest risk among the ask rules that match a call,
// including the protection rules of every workspace. It is empty if no matching
// rule sets a risk.
func RiskOfCall(c *GateCall, origin GateOrigin, rules []*GateRule, read ReadShell, now time.Time) Risk {
	var fields any
	if json.Unmarshal(c.Input, &fields) != nil {
		return ""
	}
	var maxRisk Risk
	for _, r := range rules {
		if r.Decision == GateAsk && r.Risk != "" && r.IsLive(now) && r.appliesTo(origin) && r.matches(c.Tool, fields, read) {
			maxRisk = HigherRisk(maxRisk, r.Risk)
		}
	}
	for _, p := range protections {
		if p.isWrittenBy(c, fields, read) {
			maxRisk = HigherRisk(maxRisk, p.rule(c.Tool).Risk)
		}
	}
	return maxRisk
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// specificity returns how narrow the rule is. The scope counts most, then the
// number of argument patterns, then the length of their fixed text.
func (r *GateRule) specificity() int {
	n := len(fixedText(r.Tool))
	for _, pattern := range r.Args {
		n += 1000 + len(fixedText(pattern))
	}
	switch {
	case r.TaskID != "" || r.SessionKey != "":
		n += 2_000_000
	case r.Project != "":
		n += 1_000_000
	}
	return n
}

func fixedText(pattern string) string {
	return strings.Map(func(r rune) rune {
		if r == '*' || r == '?' || r == '\\' {
			return -1
		}
		return r
	}, pattern)
}

func (r *GateRule) appliesTo(origin GateOrigin) bool {
	return (r.Project == "" || r.Project == origin.Project) &&
		(r.TaskID == "" || r.TaskID == origin.TaskID) &&
		(r.SessionKey == "" || r.SessionKey == origin.SessionKey && (r.Decision != GateAllow || r.SessionOwner != nil && r.SessionOwner.Is(origin.SessionOwner)))
}

func (r *GateRule) matches(tool string, fields any, read ReadShell) bool {
	if !matchesGlob(r.Tool, tool) {
		return false
	}
	for argPath, pattern := range r.Args {
		values := valuesAt(fields, strings.Split(argPath, "."))
		if len(values) == 0 {
			return false
		}
		matchesOne := func(v any) bool { return r.matchesValue(argPath, pattern, v, read) }
		if r.Decision == GateAllow && slices.ContainsFunc(values, func(v any) bool { return !matchesOne(v) }) {
			return false
		}
		if r.Decision != GateAllow && !slices.ContainsFunc(values, matchesOne) {
			return false
		}
	}
	return r.Decision != GateAllow || !r.namesCommand() || !r.hasUncheckedArgument(fields, "")
}

// inertArguments are arguments that do not change the effect of a command: texts for people, and how long to wait for
// it. The argument "acp" holds an agent's description of its call.
var inertArguments = []string{"description", "title", "justification", "timeout", "timeout_ms", "run_in_background", "is_background", "acp"}

// namesCommand reports whether the rule has a pattern for a command line.
func (r *GateRule) namesCommand() bool {
	for argPath := range r.Args {
		if isCommand(argPath) {
			return true
		}
	}
	return false
}

// hasUncheckedArgument reports whether the rule leaves out an argument that could change the effect of the command. Examples are
// another folder or a disabled sandbox.
func (r *GateRule) hasUncheckedArgument(v any, argPath string) bool {
	if argPath != "" && r.namesArgument(argPath) || v == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			innerPath := strings.TrimPrefix(argPath+"."+name, ".")
			if !slices.Contains(inertArguments, name) && r.hasUncheckedArgument(inner, innerPath) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return r.hasUncheckedArgument(inner, argPath) })
	default:
		return true
	}
}

// namesArgument reports whether the rule has a pattern for the argument or for one that
// contains it.
func (r *GateRule) namesArgument(argPath string) bool {
	for path := range r.Args {
		if argPath == path || strings.HasPrefix(argPath, path+".") {
			return true
		}
	}
	return false
}

// valuesAt returns the values at a path of the arguments. For a list on the
// path, or at its end, it returns the values of all elements.
func valuesAt(v any, names []string) []any {
	if list, ok := v.([]any); ok {
		var out []any
		for _, inner := range list {
			found := valuesAt(inner, names)
			if len(found) == 0 {
				// An element without such an argument must still be checked, so
				// it counts as nil.
				found = []any{nil}
			}
			out = append(out, found...)
		}
		if len(names) == 0 && len(out) > 0 {
			// A command given as a list of words is one command.
			if words, ok := commandWords(list); ok {
				return []any{words}
			}
		}
		return out
	}
	if len(names) == 0 {
		return []any{v}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	inner, ok := object[names[0]]
	if !ok {
		return nil
	}
	return valuesAt(inner, names[1:])
}

// wordList is a command given as a list of words.
type wordList []string

func commandWords(list []any) (wordList, bool) {
	out := make(wordList, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// matchesValue reports whether a pattern matches one argument.
func (r *GateRule) matchesValue(argPath, pattern string, v any, read ReadShell) bool {
	var text string
	command := isCommand(argPath)
	switch v := v.(type) {
	case nil:
		return pattern == "*"
	case string:
		text = v
	case wordList:
		if !command {
			matchesOne := func(s string) bool { return r.matchesValue(argPath, pattern, s, read) }
			if r.Decision == GateAllow {
				return !slices.ContainsFunc(v, func(s string) bool { return !matchesOne(s) })
			}
			return slices.ContainsFunc(v, matchesOne)
		}
		text = quoteWords(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return false
		}
		text, command = string(data), false
	}
	if pattern == "*" || pattern == text {
		return true
	}
	if r.Decision == GateAllow {
		return matchesGlob(pattern, text) && isVisibleText(text) && (!command || read(text).Plain)
	}
	if matchesGlob(pattern, text) || matchesGlob(pattern, path.Clean(text)) {
		return true
	}
	return command && slices.ContainsFunc(read(text).Commands, func(s string) bool { return matchesGlob(pattern, s) })
}

// isCommand reports whether the name of an argument says that it is a command line.
func isCommand(argPath string) bool {
	name := strings.ToLower(argPath[strings.LastIndexByte(argPath, '.')+1:])
	return slices.Contains([]string{
		"command", "commands", "cmd", "script", "shell", "bash", "argv", "cmdline", "commandline", "command_line", "shell_command", "code",
	}, name)
}

// quoteWords returns the words as one command line, quoted for a shell.
func quoteWords(list wordList) string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		safe := w != "" && strings.IndexFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,", r)
		}) < 0
		if !safe {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// isVisibleText reports whether nothing in a text can hide from a pattern. Control and invisible characters, white
// space other than the plain space, and the path element ".." can hide something.
func isVisibleText(s string) bool {
	for _, r := range s {
		if r == unicode.ReplacementChar || r != ' ' && !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) ||
			unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return false
		}
	}
	steps := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`/\ "'=:,`, r) })
	return !slices.Contains(steps, "..")
}

// matchesGlob reports whether a pattern matches the whole text. In the pattern, *
// matches any text, ? matches one character, and \ takes the next character
// literally.
func matchesGlob(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	var i, j int
	star, mark := -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && p[i] == '?':
			i++
			j++
		case i+1 < len(p) && p[i] == '\\' && p[i+1] == t[j]:
			i += 2
			j++
		case i < len(p) && p[i] != '\\' && p[i] == t[j]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// Explain returns a sentence that says how the rules came to their decision.
func (r Ruling) Explain() string {
	if r.Rule != nil {
		return r.Rule.Sentence()
	}
	return fmt.Sprintf("no rule fits; the policy's own decision is %s", r.Decision)
}
