package push

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// blanks are letters and symbols that have no visible form.
const blanks = "\u115f\u1160\u2800\u3164\uffa0"

// plainText replaces invisible characters, and characters that change the
// direction of the text, by the visible character U+FFFD. It removes variation
// selectors, and joins several lines into one. Text that it leaves unchanged
// shows its true content.
func plainText(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.Is(unicode.Variation_Selector, r):
			return -1
		case unicode.IsSpace(r) && r != ' ', strings.ContainsRune(blanks, r):
			return utf8.RuneError
		case unicode.IsGraphic(r):
			return r
		default:
			return utf8.RuneError
		}
	}, text)
	return strings.TrimSpace(text)
}

// shortenLines applies plainText to every line of a text, and cuts the whole to
// limit characters.
func shortenLines(text string, limit int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = plainText(line)
	}
	text = strings.Join(lines, "\n")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
}
