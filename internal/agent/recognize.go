package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// fence marks the beginning and the end of a block of code in Markdown.
const fence = "```"

// LastBlock is the last line of an output, or all lines of the object, the list or the
// block of code that it ends.
func LastBlock(last, output string) string {
	output = strings.TrimSpace(output)
	switch last {
	case fence:
		body := strings.TrimSuffix(output, fence)
		if i := strings.LastIndex("\n"+body, "\n"+fence); i >= 0 {
			_, body, _ = strings.Cut(body[i:], "\n")
			return strings.TrimSpace(body)
		}
	case "}", "]":
		opens := map[string]string{"}": "{", "]": "["}[last]
		if i := strings.LastIndex("\n"+output, "\n"+opens); i >= 0 {
			return output[i:]
		}
	}
	return last
}

// everyday are words that programs print under status for themselves, when all
// is well.
var everyday = []string{"ok", "success", "succeeded", "pass", "passed", "healthy", "up", "ready"}

// LooksLikeReport reports whether the end of a program's output is meant
// as a report, right or wrong. What many programs print for themselves – lines
// of a log, answers of servers – is output:
//
//   - an object that says one of the four results as result or status, however
//     these are spelt, or needs_input under any name, is a report; so is one whose result
//     is one of them but for one letter;
//   - so is one with another word there, if it has more of a report's fields, or
//     no other fields at all and no everyday word for success;
//   - so is one with a question or a result under another name, if all other
//     fields are a report's;
//   - so is a broken object that says a result, or the beginning of one;
//   - so is a list of one such object, if all its fields are a report's.
func LooksLikeReport(text string) bool {
	if alone := onlyReport(text); alone != "" {
		text = alone
	}
	if !strings.HasPrefix(text, "{") {
		return false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return brokenReport.MatchString(text)
	}
	ours, foreign, elsewhere, asks, word := 0, 0, 0, false, ""
	for name, raw := range fields {
		said, isText := textOf(raw)
		known := slices.Contains(results, spellResult(said))
		switch lower := strings.ToLower(name); {
		case spellResult(said) == string(fermata.ResultNeedsInput):
			return true
		case known && (isNear(lower, resultName) || isNear(lower, statusName)):
			return true
		case lower == resultName && isText && slices.ContainsFunc(results, func(r string) bool { return isNear(spellResult(said), r) }):
			return true
		case lower == resultName || lower == statusName:
			if isText {
				word = said
			}
		case known && !slices.Contains(reportNames, lower):
			elsewhere++
		case slices.ContainsFunc(reportNames, func(n string) bool { return strings.EqualFold(n, name) }):
			ours++
			asks = asks || lower == questionName
		default:
			foreign++
		}
	}
	if word == "" {
		return foreign == 0 && (asks && elsewhere == 0 || ours > 0 && elsewhere == 1)
	}
	return ours > 0 || foreign+elsewhere == 0 && !slices.Contains(everyday, strings.ToLower(word))
}

// onlyReport is the object in a list of one that has no fields but a report's; "" in any other text.
func onlyReport(text string) string {
	var list []json.RawMessage
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil || len(list) != 1 || json.Unmarshal(list[0], &fields) != nil || checkNames(fields) != nil {
		return ""
	}
	return string(list[0])
}

// spellResult returns a word in the spelling of results.
func spellResult(word string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(word))
}

// isNear reports whether two names are equal but for one letter that is missing, added
// or another one.
func isNear(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch len(a) - len(b) {
	case 0:
		return i == len(a) || a[i+1:] == b[i+1:]
	case 1:
		return a[i+1:] == b[i:]
	default:
		return false
	}
}

// brokenReport fits a text that is no whole JSON and says a result, or is cut
// within its word. A status counts at the beginning only: elsewhere it may be
// that of anything in a document of another program.
var brokenReport = regexp.MustCompile(`("result"|^\{\s*"status")\s*:\s*"(` + wordOrBeginning(results) + `)`)

// wordOrBeginning is a pattern for one of the words, or for the beginning of one at
// the end of the line.
func wordOrBeginning(words []string) string {
	var patterns []string
	for _, word := range words {
		patterns = append(patterns, word+`"`)
		for n := range len(word) {
			patterns = append(patterns, word[:n+1]+"$")
		}
	}
	return strings.Join(patterns, "|")
}
