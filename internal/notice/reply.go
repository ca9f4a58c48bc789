package notice

import (
	"errors"
	"strings"
	"unicode"

	"github.com/fermata-hq/fermata"
)

// ParseReply reads a person's message as the answer to a question. The first line is strict: a letter, a number, the
// value or the label of an option (several with commas), yes or no, approve or "reject: reason", a number, a date, a
// text. A question with several items needs a line "key: value" for each item. A comment follows a colon. Other words
// beside an answer may take it back, see checkSurroundingWords. A text with two meanings is refused. The error has
// [fermata.CodeInvalidRequest], and its hint explains how to write the answer.
func ParseReply(q *fermata.Question, text string) (fermata.Answer, error) {
	a, err := parseReply(q, stripWrapping(text))
	if err == nil {
		return a, nil
	}
	var refused *fermata.Error
	if errors.As(err, &refused) {
		withHint := *refused
		withHint.Hint = HowToAnswer(q)
		return fermata.Answer{}, &withHint
	}
	return fermata.Answer{}, err
}

func parseReply(q *fermata.Question, text string) (fermata.Answer, error) {
	if text == "" {
		return fermata.Answer{}, invalidAnswerError("the reply is empty")
	}
	if len(q.Items) != 1 {
		values, comment, err := readLines(q, text)
		return withActionHash(q, fermata.Answer{Answers: values, Comment: comment}), err
	}
	r, err := readReply(q, &q.Items[0], text)
	if err != nil {
		if plain, ok := readPlainYesNo(q, text); ok {
			r, err = plain, nil
		}
	}
	a := fermata.Answer{Answer: r.value, Comment: r.comment}
	if r.value == nil {
		a.Answers = map[string]any{}
	}
	return withActionHash(q, a), err
}

// withActionHash adds the hash of the action that the person saw in the message.
func withActionHash(q *fermata.Question, a fermata.Answer) fermata.Answer {
	if q.Type == fermata.Approval {
		a.ActionHash = q.ActionHash
	}
	return a
}

// stripWrapping removes the parts that programs put around a person's words.
func stripWrapping(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n")
	text = strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || IsHidden(r) })
	if rest, ok := cutWord(text, "/answer"); ok {
		text = rest
	}
	return text
}

// cutWord cuts a word off the beginning of a text. Upper and lower case are the
// same.
func cutWord(text, word string) (string, bool) {
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return text, false
	}
	rest := text[len(word):]
	if rest != "" && !strings.ContainsAny(rest[:1], " \n\t") {
		return text, false
	}
	return strings.TrimSpace(rest), true
}

// commentBelow returns the comment that the person wrote on the lines below the
// first one, without quoted lines and signatures (see splitSignature).
func commentBelow(q *fermata.Question, rest string) string {
	const answer = "-\n" // a placeholder for the answer above the lines
	words, _ := splitSignature(answer+rest, "", hasHighRisk(q))
	return strings.TrimSpace(strings.TrimPrefix(words, "-"))
}

// readLines reads a reply to several items.
func readLines(q *fermata.Question, text string) (values map[string]any, comment string, err error) {
	texts, comment, err := itemTexts(q, text)
	if err != nil {
		return nil, "", err
	}
	values = make(map[string]any, len(texts))
	var problems []fermata.Problem
	for i := range q.Items {
		it := &q.Items[i]
		given, ok := texts[it.Key]
		if !ok || omitsItem(it, given) {
			if it.IsRequired() {
				problems = append(problems, fermata.Problem{Field: it.Key, Message: "is required"})
			}
			continue
		}
		v, err := readValue(q, it, given)
		if err != nil {
			problems = append(problems, fermata.Problem{Field: it.Key, Message: err.Error()})
			continue
		}
		values[it.Key] = v
	}
	if len(problems) > 0 {
		return nil, "", fermata.Invalid(problems...)
	}
	return values, comment, nil
}

const commentKey = "comment"

// itemTexts splits a reply into the texts for its items. A line without a key
// continues the text above it.
func itemTexts(q *fermata.Question, text string) (texts map[string]string, comment string, err error) {
	texts = map[string]string{}
	last, afterBlankLine := "", false
	text, _ = splitSignature(text, "", hasHighRisk(q))
	for line := range strings.SplitSeq(text, "\n") {
		key, value, found := keyOf(q, line)
		_, isRepeated := texts[key]
		switch {
		case found && isRepeated:
			return nil, "", invalidAnswerError("%s is answered twice", key)
		case found:
			texts[key], last = value, key
		case strings.TrimSpace(line) == "" && !takesSeveralLines(q, last):
			afterBlankLine = true
			continue
		case afterBlankLine && !found && !takesSeveralLines(q, last) && hasRequiredAnswers(q, texts) && q.Item(commentKey) == nil && isCourtesy(line):
			// Any other words below the last answer might take it back.
			texts[commentKey], last = line, commentKey
		case takesSeveralLines(q, last):
			texts[last] += "\n" + line
		case strings.TrimSpace(line) != "":
			return nil, "", invalidAnswerError("the line %q does not begin with one of the keys %s", OneLine(line), strings.Join(itemKeys(q), ", "))
		}
	}
	for key := range texts {
		texts[key] = strings.TrimSpace(texts[key])
	}
	if q.Item(commentKey) == nil {
		comment = texts[commentKey]
		delete(texts, commentKey)
	}
	return texts, comment, nil
}

// hasRequiredAnswers reports whether the texts answer every required item.
func hasRequiredAnswers(q *fermata.Question, texts map[string]string) bool {
	for i := range q.Items {
		if _, ok := texts[q.Items[i].Key]; !ok && q.Items[i].IsRequired() {
			return false
		}
	}
	return true
}

// takesSeveralLines reports whether the text under the key may have several lines.
func takesSeveralLines(q *fermata.Question, key string) bool {
	it := q.Item(key)
	return key != "" && (it == nil || it.ResponseType == fermata.ResponseText)
}

// keyOf finds the key of an item, or the word comment, at the beginning of a
// line.
func keyOf(q *fermata.Question, line string) (key, value string, found bool) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return "", "", false
	}
	name = strings.TrimSpace(name)
	list := append(itemKeys(q), commentKey)
	for _, k := range list {
		if k == name {
			return k, strings.TrimSpace(value), true
		}
	}
	for _, k := range list {
		if strings.EqualFold(k, name) && isUniqueKey(list, name) {
			return k, strings.TrimSpace(value), true
		}
	}
	return "", "", false
}

// isUniqueKey reports whether the name matches exactly one key if case is
// ignored.
func isUniqueKey(list []string, name string) bool {
	n := 0
	for _, k := range list {
		if strings.EqualFold(k, name) {
			n++
		}
	}
	return n == 1
}

func itemKeys(q *fermata.Question) []string {
	list := make([]string, 0, len(q.Items)+1)
	for i := range q.Items {
		list = append(list, q.Items[i].Key)
	}
	return list
}
