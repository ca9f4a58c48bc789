package push

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// blanks are letters and signs that show nothing.
const blanks = "\u115f\u1160\u2800\u3164\uffa0"

// plainText makes what cannot be seen, or turns the direction of the text, visible
// as a replacement sign, and lines one line. Text that it leaves as it is shows
// what it says.
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

// shortenLines makes every line of a text plain, and the whole no longer than limit
// characters.
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
