package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// fence marks the beginning and the end of a block of code in Markdown.
const fence = "```"

// LastBlock returns the last line of an output. If that line ends a JSON object, a list or a block of code, LastBlock
// returns all lines of it. If the output ends inside an object or a list, LastBlock returns its unfinished text.
func LastBlock(last, output string) string {
	output = strings.TrimSpace(output)
	if found := findJSON(output); found.unfinished >= 0 {
		return output[found.unfinished:]
	}
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

// fencedBlock matches blocks between lines of three backticks.
var fencedBlock = lazyregexp.New("(?ms)^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*\r?$")

// everydayWords are words that programs print as a status of their own when all is well.
var everydayWords = []string{"ok", "success", "succeeded", "pass", "passed", "healthy", "up", "ready"}

// LooksLikeReport reports whether the end of a program's output is meant as a report, right or wrong. Texts that many
// programs print for themselves, such as log lines and server replies, are no reports. These are reports:
//
//   - an object with one of the four results as result or status, in any spelling of these names; with needs_input under
//     any name; or whose result differs from one of the four by one letter;
//   - an object with another word as result or status and with more fields of a report;
//   - an object with nothing but such a word, unless it is an everyday word for success;
//   - an object with a question, or with a result under another name, if all other fields are a report's;
//   - a broken object that has a result, or the beginning of one;
//   - a list of one such object, if all its fields are a report's.
func LooksLikeReport(text string) bool {
	if alone := unwrapReport(text); alone != "" {
		text = alone
	}
	if !strings.HasPrefix(text, "{") {
		return false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return brokenReport().MatchString(text)
	}
	reportFields, otherFields, misplaced, asks, word := 0, 0, 0, false, ""
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
			misplaced++
		case slices.ContainsFunc(reportNames, func(n string) bool { return strings.EqualFold(n, name) }):
			reportFields++
			asks = asks || lower == questionName
		default:
			otherFields++
		}
	}
	if word == "" {
		return otherFields == 0 && (asks && misplaced == 0 || reportFields > 0 && misplaced == 1)
	}
	return reportFields > 0 || otherFields+misplaced == 0 && !slices.Contains(everydayWords, strings.ToLower(word))
}

// unwrapReport returns the object in a list of one object that has only fields of a report. It returns "" for any other
// text.
func unwrapReport(text string) string {
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

// isNear reports whether two names are equal, or differ by one letter that is missing, added or replaced.
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

// brokenReport matches a text that is no complete JSON and that has a result, or is cut within the result's word. A
// status counts only at the beginning: elsewhere it may be any status in a document of another program.
var brokenReport = lazyregexp.New(`("result"|^\{\s*"status")\s*:\s*"(` + wordOrBeginning(results) + `)`)

// wordOrBeginning returns a pattern for one of the words, or for the beginning of one at the end of the text.
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
