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

// GateScope is the origin of a call, as rules name it.
type GateScope struct {
	Project, TaskID, SessionKey string
	// SessionOf is the owner of the session.
	SessionOf Actor
}

// ScopeOf returns the origin of a task's calls.
func ScopeOf(t *Task) GateScope {
	return GateScope{Project: t.Project, TaskID: t.ID, SessionKey: t.SessionKey, SessionOf: t.CreatedBy}
}

// UnknownText replaces, in the words of a [Shell], the text that the command
// line does not reveal.
const UnknownText = "**"

// Shell is the result of reading a command line as shell code.
type Shell struct {
	// Plain is true if the line is one command with fixed words. The line then
	// has no operator, redirection, substitution, expansion or second line.
	Plain bool
	// Commands are all commands that the line runs, without quotes. They
	// include commands inside substitutions and inside sh -c.
	Commands []string
	// Calls are the same commands as lists of words, and the commands that other commands may start from their words.
	// An [UnknownText] in a word replaces text that neither the line nor its surroundings reveal.
	Calls [][]string
	// Loose are the commands whose words are not fully known. Such a command contains a variable or a substitution.
	// Or it takes words or commands from its input, as xargs or a shell without a script does. A redirection to a
	// file with an unknown name is listed as the command >.
	Loose [][]string
	// Settings are the variables that the line sets, as NAME=value.
	Settings []string
	// Texts are all words of the line, including the words of here-documents
	// and of variable values.
	Texts []string
	// Writes are the files that redirections of the line write.
	Writes []string
}

// ReadShell is a function that reads a command line.
type ReadShell func(command string) Shell

// Ruling is the decision of the rules on a call.
type Ruling struct {
	Decision GateDecision
	// Halt is the reason why nothing may run for the task at all. It takes
	// precedence over every rule.
	Halt string
	// Rule is the rule that decided. It is nil if no rule matched and the
	// policy's default decision applies.
	Rule *GateRule
}

// Judge returns the decision of the rules on a call. Deny wins over ask, and ask wins over allow. Among equal
// decisions, the ruling names the most specific rule. If no rule matches, the policy decides. A call that writes
// files by which git or an agent program starts programs needs a question, unless an allow rule names these files:
// see [ProtectedRule] and [ProtectedAgentRule].
//
// Allow rules match more strictly than the others, so that no input can trick them. The pattern of an allow rule
// matches a command line only if that is a single plain command. It matches other text only if nothing can hide in
// it. The pattern of a deny or ask rule matches if any part of the command line does.
func Judge(c *GateCall, from GateScope, rules []*GateRule, p Policy, read ReadShell, now time.Time) Ruling {
	var fields any
	if json.Unmarshal(c.Input, &fields) != nil {
		return Ruling{Decision: GateDeny}
	}
	var fits []*GateRule
	for _, r := range rules {
		if r.Live(now) && r.covers(from) && r.fits(c.Tool, fields, read) {
			fits = append(fits, r)
		}
	}
	for _, p := range protections {
		if p.writtenBy(c, fields, read) && !slices.ContainsFunc(fits, p.isAllowedBy) {
			fits = append(fits, p.rule(c.Tool))
		}
	}
	if len(fits) == 0 {
		return Ruling{Decision: p.Gate()}
	}
	best := slices.MinFunc(fits, func(a, b *GateRule) int {
		return cmp.Or(
			cmp.Compare(a.Decision.strength(), b.Decision.strength()),
			// An allow rule without a maximum goes first, because it needs no counting.
			cmp.Compare(a.Uses, b.Uses)*flagOf(a.Decision == GateAllow && (a.Uses == 0 || b.Uses == 0)),
			cmp.Compare(b.specific(), a.specific()),
			strings.Compare(a.ID, b.ID),
		)
	})
	return Ruling{Decision: best.Decision, Rule: best}
}

// RiskOfCall returns the highest risk among the ask rules that match a call,
// including the protection rules of every workspace. It is empty if no matching
// rule sets a risk.
func RiskOfCall(c *GateCall, from GateScope, rules []*GateRule, read ReadShell, now time.Time) Risk {
	var fields any
	if json.Unmarshal(c.Input, &fields) != nil {
		return ""
	}
	var most Risk
	for _, r := range rules {
		if r.Decision == GateAsk && r.Risk != "" && r.Live(now) && r.covers(from) && r.fits(c.Tool, fields, read) {
			most = HigherRisk(most, r.Risk)
		}
	}
	for _, p := range protections {
		if p.writtenBy(c, fields, read) {
			most = HigherRisk(most, p.rule(c.Tool).Risk)
		}
	}
	return most
}

func flagOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// specific returns how narrow the rule is. The scope counts most, then the
// number of argument patterns, then the length of their fixed text.
func (r *GateRule) specific() int {
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

func (r *GateRule) covers(from GateScope) bool {
	return (r.Project == "" || r.Project == from.Project) &&
		(r.TaskID == "" || r.TaskID == from.TaskID) &&
		(r.SessionKey == "" || r.SessionKey == from.SessionKey && (r.Decision != GateAllow || r.SessionOf != nil && r.SessionOf.Is(from.SessionOf)))
}

func (r *GateRule) fits(tool string, fields any, read ReadShell) bool {
	if !glob(r.Tool, tool) {
		return false
	}
	for at, pattern := range r.Args {
		values := valuesAt(fields, strings.Split(at, "."))
		if len(values) == 0 {
			return false
		}
		one := func(v any) bool { return r.fitsValue(at, pattern, v, read) }
		if r.Decision == GateAllow && slices.ContainsFunc(values, func(v any) bool { return !one(v) }) {
			return false
		}
		if r.Decision != GateAllow && !slices.ContainsFunc(values, one) {
			return false
		}
	}
	return r.Decision != GateAllow || !r.namesCommand() || !r.leavesOut(fields, "")
}

// inertArguments are arguments that do not change the effect of a command: texts for people, and how long to wait for
// it. The argument "acp" holds an agent's description of its call.
var inertArguments = []string{"description", "title", "justification", "timeout", "timeout_ms", "run_in_background", "is_background", "acp"}

// namesCommand reports whether the rule has a pattern for a command line.
func (r *GateRule) namesCommand() bool {
	for at := range r.Args {
		if isCommand(at) {
			return true
		}
	}
	return false
}

// leavesOut reports whether the rule leaves out an argument that could change the effect of the command. Examples are
// another folder or a disabled sandbox.
func (r *GateRule) leavesOut(v any, at string) bool {
	if at != "" && r.names(at) || v == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			below := strings.TrimPrefix(at+"."+name, ".")
			if !slices.Contains(inertArguments, name) && r.leavesOut(inner, below) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return r.leavesOut(inner, at) })
	default:
		return true
	}
}

// names reports whether the rule has a pattern for the argument or for one that
// contains it.
func (r *GateRule) names(at string) bool {
	for path := range r.Args {
		if at == path || strings.HasPrefix(at, path+".") {
			return true
		}
	}
	return false
}

// valuesAt returns the values at a path of the arguments. A list on the path,
// or at its end, stands for all of its elements.
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

// words is a command given as a list of words.
type words []string

func commandWords(list []any) (words, bool) {
	out := make(words, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// fitsValue reports whether a pattern matches one argument.
func (r *GateRule) fitsValue(at, pattern string, v any, read ReadShell) bool {
	var text string
	command := isCommand(at)
	switch v := v.(type) {
	case nil:
		return pattern == "*"
	case string:
		text = v
	case words:
		if !command {
			one := func(s string) bool { return r.fitsValue(at, pattern, s, read) }
			if r.Decision == GateAllow {
				return !slices.ContainsFunc(v, func(s string) bool { return !one(s) })
			}
			return slices.ContainsFunc(v, one)
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
		return glob(pattern, text) && isVisibleText(text) && (!command || read(text).Plain)
	}
	if glob(pattern, text) || glob(pattern, path.Clean(text)) {
		return true
	}
	return command && slices.ContainsFunc(read(text).Commands, func(s string) bool { return glob(pattern, s) })
}

// isCommand reports whether the name of an argument says that it is a command line.
func isCommand(at string) bool {
	name := strings.ToLower(at[strings.LastIndexByte(at, '.')+1:])
	return slices.Contains([]string{
		"command", "commands", "cmd", "script", "shell", "bash", "argv", "cmdline", "commandline", "command_line", "shell_command", "code",
	}, name)
}

// quoteWords returns the words as one command line, quoted for a shell.
func quoteWords(list words) string {
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

// glob reports whether a pattern matches the whole text. In the pattern, *
// matches any text, ? matches one character, and \ takes the next character
// literally.
func glob(pattern, s string) bool {
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
