package notice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// reading is one meaning of the text that a person wrote. A reading without a
// value leaves the item out.
type reading struct {
	value   any
	comment string
}

// omitsItem reports whether the text leaves out an item that is optional.
func omitsItem(it *fermata.Item, text string) bool { return text == "-" && !it.IsRequired() }

// readReply reads a reply to the only item of a question.
func readReply(q *fermata.Question, it *fermata.Item, text string) (reading, error) {
	if omitsItem(it, text) {
		return reading{}, nil
	}
	if it.ResponseType == fermata.ResponseText {
		v, err := it.Normalize(text)
		return reading{value: v}, err
	}
	line, rest, _ := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if r, ok := readApprovalCommand(it, line); ok {
		r.comment = strings.TrimSpace(r.comment + "\n" + commentBelow(q, rest))
		return r, nil
	}
	found, readErr := readings(it, line)
	own, isOwn := ownAnswer(q, it, line, text)
	if isOwn {
		found = append(found, own)
	}
	switch {
	case len(found) == 0:
		return reading{}, readErr
	case len(found) > 1:
		return reading{}, ambiguousError(line, found)
	}
	r := found[0]
	if !isOwn {
		if err := checkSurroundingWords(q, it, line, rest, r); err != nil {
			return reading{}, err
		}
		r.comment = strings.TrimSpace(r.comment + "\n" + commentBelow(q, rest))
	}
	v, err := it.Normalize(r.value)
	return reading{value: v, comment: r.comment}, err
}

// readApprovalCommand reads /approve and /reject. The reason after them needs no colon.
func readApprovalCommand(it *fermata.Item, line string) (reading, bool) {
	if it.ResponseType != fermata.ResponseApproval {
		return reading{}, false
	}
	for _, decision := range []string{fermata.Approve, fermata.Reject} {
		if reason, ok := cutWord(line, "/"+decision); ok {
			return reading{value: decision, comment: strings.TrimSpace(strings.TrimPrefix(reason, ":"))}, true
		}
	}
	return reading{}, false
}

// readValue reads a value where no comment can accompany it.
func readValue(q *fermata.Question, it *fermata.Item, text string) (any, error) {
	if it.ResponseType == fermata.ResponseText {
		return it.Normalize(text)
	}
	values, err := findMeanings(it, text)
	found := make([]reading, 0, 1)
	for _, v := range values {
		found = append(found, reading{value: v})
	}
	if own, ok := ownAnswer(q, it, text, text); ok {
		found = append(found, own)
	}
	switch {
	case len(found) == 0:
		return nil, err
	case len(found) > 1:
		return nil, ambiguousError(text, found)
	}
	return it.Normalize(found[0].value)
}

// readings returns every meaning of a line, with and without a comment after a
// colon. If there is none, the error says why.
func readings(it *fermata.Item, line string) ([]reading, error) {
	var found []reading
	heads := []reading{{value: line}}
	for i := len(line) - 1; i >= 0; i-- {
		if line[i] == ':' {
			heads = append(heads, reading{value: line[:i], comment: strings.TrimSpace(line[i+1:])})
		}
	}
	var lastErr error
	for _, head := range heads {
		values, err := findMeanings(it, strings.TrimSpace(head.value.(string)))
		lastErr = err
		for _, v := range values {
			same := func(r reading) bool { return valueKey(r.value) == valueKey(v) }
			if !slices.ContainsFunc(found, same) {
				found = append(found, reading{value: v, comment: head.comment})
			}
		}
	}
	return found, lastErr
}

// valueKey returns a comparable form of a value.
func valueKey(v any) string { return fmt.Sprintf("%#v", v) }

// ambiguousError returns the error for a text that can be read in more than one
// way.
func ambiguousError(text string, found []reading) error {
	var list []string
	for _, r := range found {
		list = append(list, shorten(answerText(r.value), 60))
	}
	return invalidAnswerError("%q can mean %s", shorten(OneLine(text), 60), strings.Join(list, " or "))
}

// findMeanings returns the values that a text can mean. If there is none, the error
// says why.
func findMeanings(it *fermata.Item, text string) ([]any, error) {
	switch it.ResponseType {
	case fermata.ResponseChoice:
		var values []any
		for _, i := range matchOptions(it, text) {
			values = append(values, it.Options[i].Value)
		}
		if values == nil {
			return nil, noOptionError(it, text)
		}
		return values, nil
	case fermata.ResponseMultiChoice:
		return multiChoiceMeanings(it, text)
	case fermata.ResponseBoolean, fermata.ResponseApproval:
		word := strings.TrimRight(text, ".!")
		if isInt(word) {
			return nil, invalidAnswerError("%q is no word for yes or no", text)
		}
		text = word
		fallthrough
	default:
		v, err := ParseUnchecked(it, text)
		if err != nil {
			return nil, err
		}
		if it.ResponseType == fermata.ResponseDate {
			if v, err = it.Normalize(v); err != nil {
				return nil, invalidAnswerError("%q is no date as in 2027-01-31", text)
			}
		}
		return []any{v}, nil
	}
}

// noOptionError returns the error for a text that names no option.
func noOptionError(it *fermata.Item, text string) error {
	return invalidAnswerError("%q is not an option; there are %s", shorten(OneLine(text), 60), listChoices(it))
}

// multiChoiceMeanings returns the choices that a text can mean: one option, several options
// separated by commas, or a JSON list of values.
func multiChoiceMeanings(it *fermata.Item, text string) ([]any, error) {
	var found []any
	add := func(values []string) {
		v, err := it.Normalize(values)
		if err != nil {
			// If this is the only meaning, the caller checks the limits again
			// and reports the error.
			v = values
		}
		if !slices.ContainsFunc(found, func(have any) bool { return valueKey(have) == valueKey(v) }) {
			found = append(found, v)
		}
	}
	for _, i := range matchOptions(it, text) {
		add([]string{it.Options[i].Value})
	}
	if word := strings.ToLower(text); (word == "none" || word == "keine") && takesNone(it) {
		add([]string{})
	}
	var exact []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &exact) == nil {
		add(exact)
	}
	several, err := readList(it, text)
	for _, values := range several {
		add(values)
	}
	if found == nil {
		return nil, err
	}
	return found, nil
}

func takesNone(it *fermata.Item) bool {
	_, err := it.Normalize([]string{})
	return err == nil
}

// readList reads options that are separated by commas. A part with two meanings
// gives two lists.
func readList(it *fermata.Item, text string) ([][]string, error) {
	lists := [][]string{nil}
	for rest, more := text, true; more; {
		if own, ok := cutOtherPrefix(it, rest); ok {
			for i := range lists {
				lists[i] = append(slices.Clip(lists[i]), own)
			}
			break
		}
		var part string
		part, rest, more = cutPart(rest)
		positions := matchOptions(it, part)
		if len(positions) == 0 {
			return nil, noOptionError(it, part)
		}
		var longer [][]string
		for _, list := range lists {
			for _, i := range positions {
				longer = append(longer, append(slices.Clip(list), it.Options[i].Value))
			}
		}
		lists = longer
		if len(lists) > 2 {
			lists = lists[:2] // two are enough to refuse the text as ambiguous
		}
	}
	return lists, nil
}

// cutPart cuts the text at the first comma outside quotation marks.
func cutPart(text string) (part, rest string, more bool) {
	text = strings.TrimSpace(text)
	from := 0
	if strings.HasPrefix(text, `"`) {
		if end := strings.Index(text[1:], `"`); end >= 0 {
			from = end + 2
		}
	}
	if i := strings.Index(text[from:], ","); i >= 0 {
		return strings.TrimSpace(text[:from+i]), strings.TrimSpace(text[from+i+1:]), true
	}
	return text, "", false
}

// takesFreeText reports whether words that name no option may be an answer
// without the prefix "other:". They may not where a misreading does harm: at
// high risk, and beside an option that is marked as dangerous.
func takesFreeText(q *fermata.Question, it *fermata.Item) bool {
	isDanger := func(o fermata.Option) bool { return o.Danger }
	return it.TakesOther() && !hasHighRisk(q) && !slices.ContainsFunc(it.Options, isDanger)
}

// ownAnswer reads all of the text as an answer in the person's own words, if
// the item takes one. A text that begins like an option is not taken for one,
// unless it has the prefix "other:".
func ownAnswer(q *fermata.Question, it *fermata.Item, line, text string) (reading, bool) {
	if !it.TakesOther() {
		return reading{}, false
	}
	isMultiChoice := it.ResponseType == fermata.ResponseMultiChoice
	wrap := func(s string) (reading, bool) {
		if isMultiChoice {
			return reading{value: []string{s}}, true
		}
		return reading{value: s}, true
	}
	if own, ok := cutOtherPrefix(it, text); ok {
		if isMultiChoice {
			return reading{}, false // the list reads it
		}
		return wrap(own)
	}
	if !takesFreeText(q, it) {
		return reading{}, false
	}
	if inner, ok := unquote(text); ok && len(matchOptions(it, text)) == 0 {
		return wrap(inner)
	}
	if found, _ := readings(it, line); len(found) > 0 || looksLikeMark(line) || isMultiChoice && strings.Contains(line, ",") {
		return reading{}, false
	}
	first := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t,;:.!?()", r) })
	if len(first) == 0 || len(matchOptions(it, first[0])) > 0 {
		return reading{}, false
	}
	return wrap(text)
}

// cutOtherPrefix reads "other: text".
func cutOtherPrefix(it *fermata.Item, text string) (string, bool) {
	head, own, ok := strings.Cut(text, ":")
	if !ok || !it.TakesOther() || !strings.EqualFold(strings.TrimSpace(head), "other") {
		return "", false
	}
	own = strings.TrimSpace(own)
	return own, own != ""
}
