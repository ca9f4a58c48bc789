package notice

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean makes text of agents and people safe for a terminal. Characters that a
// terminal would interpret as commands, and characters that reverse or hide
// text, are replaced by their number, such as ⟨U+202E⟩. In a word with Latin
// letters, a letter that passes for a Latin one is followed by its number. Line
// ends and tabs stay.
func Clean(s string) string {
	return showHidden(strings.ReplaceAll(s, "\r\n", "\n"), false)
}

// CleanStrictly is [Clean] for a text that a person consents to. It also shows spaces
// that look like a plain one, characters that join others or change their look,
// and words of look-alikes alone. Long gaps are shown by their length.
func CleanStrictly(s string) string { return showHidden(s, true) }

// OneLine is [Clean] for a cell or a title: all white space becomes single
// spaces.
func OneLine(s string) string {
	return Clean(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\r'
	}), " "))
}

const (
	// maxCombiningMarks is how many combining marks are shown on one letter. A flood of
	// marks would cover the lines around it.
	maxCombiningMarks = 3
	// longestGap is how many spaces in a row an action shows unchanged.
	longestGap = 16
)

// showHidden replaces every character that is invisible or looks like another
// one by its number. It does the same for every byte that is not UTF-8.
func showHidden(s string, strict bool) string {
	if isPlain(s) && !(strict && strings.Contains(s, strings.Repeat(" ", longestGap+1))) {
		return s
	}
	v := viewer{strict: strict, fakes: findFakes(s, strict)}
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			v.flush()
			fmt.Fprintf(&v.out, "⟨0x%02X⟩", s[i])
			v.last, v.marks = r, 0
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		v.add(i, r, next)
	}
	v.flush()
	return v.out.String()
}

// isPlain reports whether a text has only printable ASCII, line ends and tabs.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// viewer rewrites a text so that all of it can be seen.
type viewer struct {
	out    strings.Builder
	strict bool
	// fakes are the positions of letters that pass for others.
	fakes map[int]bool
	// last is the previous character. marks counts the combining marks since
	// the last letter.
	last  rune
	marks int
	// gap counts the spaces that are held back.
	gap int
}

func (v *viewer) add(i int, r, next rune) {
	if v.strict && r == ' ' && v.last != '\n' && v.last != 0 || v.gap > 0 && r == ' ' {
		v.gap++
		return
	}
	v.flush()
	mark := unicode.In(r, unicode.M)
	if mark {
		v.marks++
	} else {
		v.marks = 0
	}
	// A number that the text itself contains must not pass for a number written
	// here.
	fake := r == '⟨' && (next == 'U' || next >= '0' && next <= '9')
	switch {
	case fake || IsHidden(r) && !v.joins(r, next) || v.strict && isOddSpace(r) || mark && v.marks > maxCombiningMarks:
		fmt.Fprintf(&v.out, "⟨U+%04X⟩", r)
	case v.fakes[i]:
		fmt.Fprintf(&v.out, "%c⟨U+%04X⟩", r, r)
	default:
		v.out.WriteRune(r)
	}
	if r != ' ' || v.last != '\n' {
		v.last = r
	}
}

// flush writes the spaces that were held back. It shows the length of a gap
// that could push text out of sight.
func (v *viewer) flush() {
	switch {
	case v.gap > longestGap:
		fmt.Fprintf(&v.out, "⟨%d spaces⟩", v.gap)
	case v.gap > 0:
		v.out.WriteString(strings.Repeat(" ", v.gap))
	}
	v.gap = 0
}

// joins reports whether a joiner or a selector has its proper effect here. A
// joiner has one between letters of scripts that need it, and between emoji. A
// selector has one after an emoji, whose look it selects.
func (v *viewer) joins(r, next rune) bool {
	if v.strict {
		return false
	}
	switch r {
	case '\u200c', '\u200d':
		return needsJoiner(v.last) && (needsJoiner(next) || unicode.Is(unicode.So, next))
	case '\ufe0f':
		return unicode.Is(unicode.So, v.last) || strings.ContainsRune("#*0123456789", v.last) && next == '\u20e3'
	default:
		return false
	}
}

// needsJoiner reports whether a joiner has a meaning after the character.
func needsJoiner(r rune) bool {
	return r == '\ufe0f' || unicode.In(r, unicode.So, unicode.Sk, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Mongolian)
}

// isOddSpace reports whether a character looks like a plain space but is a
// different one.
func isOddSpace(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// IsHidden reports whether a terminal would interpret the character as a
// command, not show it, or show only a placeholder for it.
func IsHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f && r >= ' ':
		return false
	case !unicode.IsGraphic(r):
		return true // control, format, line separators, private and unassigned
	case r == '\u034f', r == '\u115f', r == '\u1160', r == '\u17b4', r == '\u17b5', r == '\u2800', r == '\u3164', r == '\uffa0', r == '\ufffc':
		return true // fillers: letters without a visible form
	case r >= '\u180b' && r <= '\u180f', r >= '\ufe00' && r <= '\ufe0f', r >= 0xe0000 && r <= 0xe0fff:
		return true // selectors and tags
	case r == 0x1d159, r == 0x16fe4, r == 0x13441, r == 0x13442:
		return true // blank signs
	default:
		return false
	}
}

// EscapeHidden writes the hidden characters of a JSON text as JSON escapes.
// Hidden characters occur in JSON only within strings.
func EscapeHidden(data []byte) []byte {
	if bytes.IndexFunc(data, IsHidden) < 0 {
		return data
	}
	var out bytes.Buffer
	for _, r := range string(data) {
		switch {
		case !IsHidden(r):
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
