package cli

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// fileMark is the prefix of a text that names a file. A text with a doubled mark begins with the mark itself.
const fileMark = "@"

// textOrFile returns the text of a flag, or the content of the file after an @. The file @- is standard input. A text
// that begins with an @ is written with @@.
func (s *session) textOrFile(flag, text string) (string, error) {
	if err := checkNotDash(flag, text); err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(text, fileMark)
	if !ok || strings.HasPrefix(name, fileMark) {
		return name, nil
	}
	data, err := s.readFile(flag, name, maxFileSize)
	if e, ok := asError(err); ok {
		return "", e.WithHint("a text that begins with @ names a file; write @@ for a text that begins with an @")
	}
	return string(data), err
}

// checkNotDash refuses a text that is only a dash. It usually means standard input, whose content would silently be
// lost.
func checkNotDash(flag, text string) error {
	if text != standardInput {
		return nil
	}
	return flagErrorf(flag, "a dash alone is no text").WithHint("@- reads a text from standard input, where a command takes @FILE")
}

// wordsOrFile returns the words of an argument as one text. A single word may name a file; several words are always
// text.
func (s *session) wordsOrFile(argument string, words []string) (string, error) {
	if len(words) == 1 {
		return s.textOrFile(argument, words[0])
	}
	return strings.Join(words, " "), nil
}

// readAnswers replaces answers that name a file with the content of the file. Only free answers may name a file: a
// text, or an answer besides the options.
func (s *session) readAnswers(q *fermata.Question, words, pairs []string) (readWords, readPairs []string, err error) {
	readWords = slices.Clone(words)
	for i, text := range words {
		if len(words) != len(q.Items) {
			break // several words are one text, or an error that is reported later
		}
		if readWords[i], err = s.answerOrFile("the answer", &q.Items[i], text); err != nil {
			return nil, nil, err
		}
	}
	readPairs = append(readPairs, pairs...)
	for i, pair := range pairs {
		key, text, _ := strings.Cut(pair, "=")
		it := q.Item(key)
		if it == nil {
			continue
		}
		if text, err = s.answerOrFile("--answer "+key, it, text); err != nil {
			return nil, nil, err
		}
		readPairs[i] = key + "=" + text
	}
	return readWords, readPairs, nil
}

// answerOrFile returns an answer, or the content of the file that it names. It removes the last line end, which
// editors add.
func (s *session) answerOrFile(flag string, it *fermata.Item, text string) (string, error) {
	if !strings.HasPrefix(text, fileMark) && text != standardInput || !mayNameFile(it, text) {
		return text, nil
	}
	text, err := s.textOrFile(flag, text)
	return strings.TrimRight(text, "\r\n"), err
}

// mayNameFile reports whether an answer may name a file. If an option has the same name, the answer means the option.
func mayNameFile(it *fermata.Item, text string) bool {
	for _, o := range it.Options {
		if strings.EqualFold(text, o.Value) || strings.EqualFold(text, o.Label) {
			return false
		}
	}
	return it.ResponseType == fermata.ResponseText || it.ResponseType == fermata.ResponseChoice && it.TakesOther()
}
