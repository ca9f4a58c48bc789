package answer

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// readAnswers replaces answers that name a file with the content of the file. Only free answers may name a file: a
// text, or an answer besides the options.
func readAnswers(s *session.Session, q *fermata.Question, words, pairs []string) (readWords, readPairs []string, err error) {
	readWords = slices.Clone(words)
	for i, text := range words {
		if len(words) != len(q.Items) {
			break // several words are one text, or an error that is reported later
		}
		if readWords[i], err = answerOrFile(s, "the answer", &q.Items[i], text); err != nil {
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
		if text, err = answerOrFile(s, "--answer "+key, it, text); err != nil {
			return nil, nil, err
		}
		readPairs[i] = key + "=" + text
	}
	return readWords, readPairs, nil
}

// answerOrFile returns an answer, or the content of the file that it names. It removes the last line end, which
// editors add.
func answerOrFile(s *session.Session, flag string, it *fermata.Item, text string) (string, error) {
	if !strings.HasPrefix(text, session.FileMark) && text != session.StandardInput || !mayNameFile(it, text) {
		return text, nil
	}
	text, err := s.TextOrFile(flag, text)
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
