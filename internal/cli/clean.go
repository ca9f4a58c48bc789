package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// clean makes text of agents and people safe for a terminal: every character
// that a terminal would obey, or that turns or hides text, stands as its
// number, such as ⟨U+202E⟩. Line ends and tabs stay.
func clean(s string) string {
	return visible(strings.ReplaceAll(s, "\r\n", "\n"), hidden)
}

// exact is [clean] for what a person consents to: it also shows characters
// that look like a plain space, that join others, or that change their look.
func exact(s string) string {
	return visible(s, func(r rune) bool {
		joins := r == '\u200c' || r == '\u200d' || r >= '\ufe00' && r <= '\ufe0f'
		return hidden(r) || joins || r != ' ' && unicode.Is(unicode.Zs, r)
	})
}

// oneLine is [clean] for a cell or a title: all space becomes single spaces.
func oneLine(s string) string {
	return clean(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\r'
	}), " "))
}

// visible writes every rune that hide names, and every byte that is no UTF-8,
// as its number.
func visible(s string, hide func(rune) bool) string {
	var sb strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&sb, "⟨0x%02X⟩", s[i])
		case hide(r):
			fmt.Fprintf(&sb, "⟨U+%04X⟩", r)
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// hidden reports whether a terminal would obey or not show the character.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\u200c' || r == '\u200d':
		// Persian and emoji need the two joiners.
		return false
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		return true
	case r == '\u034f', r == '\u115f', r == '\u1160', r == '\u17b4', r == '\u17b5', r == '\u2800', r == '\u3164', r == '\uffa0':
		return true // fillers: letters that have no look
	case r >= '\u180b' && r <= '\u180f', r >= 0xe0000 && r <= 0xe0fff:
		return true // selectors and tags
	default:
		return false
	}
}

// escapeHidden writes hidden characters of a JSON text as JSON escapes. They
// occur within strings only.
func escapeHidden(data []byte) []byte {
	if bytes.IndexFunc(data, hidden) < 0 {
		return data
	}
	var out bytes.Buffer
	for _, r := range string(data) {
		switch {
		case !hidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
