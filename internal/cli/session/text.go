package session

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/fermata-hq/fermata/internal/strictjson"
)

// JSONOrText returns a JSON document as it is, and any other text as a JSON string. It refuses a text that begins like
// an object or a list but is not valid JSON: a broken document is a mistake.
func (s *Session) JSONOrText(flag, text string) (json.RawMessage, error) {
	text, err := s.TextOrFile(flag, text)
	if err != nil || text == "" {
		return nil, err
	}
	trimmed := strings.TrimSpace(text)
	var doc any
	err = strictjson.Unmarshal([]byte(trimmed), &doc)
	fieldErr, isFieldErr := errors.AsType[*strictjson.FieldError](err)
	switch {
	case err == nil:
		return json.RawMessage(trimmed), nil
	case isFieldErr && (strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")):
		return nil, flagFieldError(flag, "", []byte(trimmed), fieldErr).WithHint("a text that begins with { or [ is read as JSON; write a plain text in quotes: '\"…\"'")
	}
	return json.Marshal(text)
}

// FileMark is the prefix of a text that names a file. A text with a doubled mark begins with the mark itself.
const FileMark = "@"

// TextOrFile returns the text of a flag, or the content of the file after an @. The file @- is standard input. A text
// that begins with an @ is written with @@.
func (s *Session) TextOrFile(flag, text string) (string, error) {
	if err := CheckNotDash(flag, text); err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(text, FileMark)
	if !ok || strings.HasPrefix(name, FileMark) {
		return name, nil
	}
	data, err := s.ReadFile(flag, name, MaxFileSize)
	if e, ok := AsError(err); ok {
		return "", e.WithHint("a text that begins with @ names a file; write @@ for a text that begins with an @")
	}
	return string(data), err
}

// CheckNotDash refuses a text that is only a dash. It usually means standard input, whose content would silently be
// lost.
func CheckNotDash(flag, text string) error {
	if text != StandardInput {
		return nil
	}
	return FlagErrorf(flag, "a dash alone is no text").WithHint("@- reads a text from standard input, where a command takes @FILE")
}

// WordsOrFile returns the words of an argument as one text. A single word may name a file; several words are always
// text.
func (s *Session) WordsOrFile(argument string, words []string) (string, error) {
	if len(words) == 1 {
		return s.TextOrFile(argument, words[0])
	}
	return strings.Join(words, " "), nil
}
