package notice

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// Marks returns the marks by which a person picks the options of an item: the
// letters A, B and so on. If a letter could also mean another option, the marks
// are numbers. If the numbers could too, they follow as many # as needed.
func Marks(it *fermata.Item) []string {
	marks := make([]string, len(it.Options))
	for scheme := 0; ; scheme++ {
		for i := range marks {
			marks[i] = markOf(scheme, i)
		}
		if areUnambiguous(it, marks) {
			return marks
		}
	}
}

func markOf(scheme, i int) string {
	if scheme == 0 {
		return letterMark(i)
	}
	return strings.Repeat("#", scheme-1) + strconv.Itoa(i+1)
}

// letterMark returns the mark at position i: A to Z, then AA, AB and so on.
func letterMark(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letterMark(i/26-1) + letterMark(i%26)
}

// areUnambiguous reports whether each mark picks exactly its own option, and no
// option looks like a list of marks.
func areUnambiguous(it *fermata.Item, marks []string) bool {
	for i, m := range marks {
		if positions := matchOptions(it, m); len(positions) != 1 || positions[0] != i {
			return false
		}
	}
	for _, o := range it.Options {
		if listsMarks(o.Value, marks) || listsMarks(OneLine(o.Text()), marks) {
			return false
		}
	}
	return true
}

// listsMarks reports whether a text reads as a list of marks, separated by
// commas.
func listsMarks(text string, marks []string) bool {
	if !strings.Contains(text, ",") {
		return false
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !slices.ContainsFunc(marks, func(m string) bool { return strings.EqualFold(m, part) }) {
			return false
		}
	}
	return true
}

// matchOptions returns the positions of the options that a text can mean, by
// value, label, letter or number. A text in quotation marks is only a value or
// a label.
func matchOptions(it *fermata.Item, text string) []int {
	var positions []int
	add := func(fits func(o fermata.Option) bool) {
		for i, o := range it.Options {
			if fits(o) {
				positions = addPosition(positions, i)
			}
		}
	}
	add(func(o fermata.Option) bool { return o.Value == text || o.Label != "" && o.Label == text })
	if inner, ok := unquote(text); ok {
		before := len(positions)
		add(func(o fermata.Option) bool { return o.Value == inner })
		if len(positions) == before {
			add(func(o fermata.Option) bool { return o.Label != "" && o.Label == inner })
		}
		return positions
	}
	if len(positions) == 0 {
		add(func(o fermata.Option) bool {
			return strings.EqualFold(o.Value, text) || strings.EqualFold(o.Text(), text) || mayBeAsShortAs(o.Text(), text) && strings.EqualFold(OneLine(o.Text()), text)
		})
	}
	if i, ok := parsePosition(text); ok && i < len(it.Options) {
		positions = addPosition(positions, i)
	}
	return positions
}

// mayBeAsShortAs reports whether s, written on one line, may be as short as text. It
// is a cheap check before hidden characters are made visible, which takes time
// and only makes a line longer.
func mayBeAsShortAs(s, text string) bool {
	n := utf8.RuneCountInString(text)
	for _, r := range s {
		if !strings.ContainsRune(" \n\t\r", r) {
			n--
		}
		if n < 0 {
			return false
		}
	}
	return true
}

func addPosition(positions []int, i int) []int {
	if slices.Contains(positions, i) {
		return positions
	}
	return append(positions, i)
}

// parsePosition reads a letter or a number as a position in a list, counted from 0.
func parsePosition(text string) (int, bool) {
	text = strings.TrimRight(text, ".)")
	digits := strings.TrimLeft(text, "#")
	if n, err := strconv.Atoi(digits); err == nil && n > 0 && digits[0] != '+' {
		return n - 1, true
	}
	if text == "" || len(text) > 2 {
		return 0, false
	}
	i := 0
	for _, c := range strings.ToUpper(text) {
		if c < 'A' || c > 'Z' {
			return 0, false
		}
		i = i*26 + int(c-'A') + 1
	}
	return i - 1, true
}

// looksLikeMark reports whether a text looks like an attempt to pick an option by
// its mark.
func looksLikeMark(text string) bool {
	_, ok := parsePosition(text)
	return ok && (len(strings.TrimRight(text, ".)")) == 1 || isInt(strings.TrimLeft(strings.TrimRight(text, ".)"), "#")))
}

// unquote removes the quotation marks around a text. ok is false if it has
// none.
func unquote(text string) (string, bool) {
	for _, pair := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}} {
		if len(text) > len(pair[0])+len(pair[1]) && strings.HasPrefix(text, pair[0]) && strings.HasSuffix(text, pair[1]) {
			return text[len(pair[0]) : len(text)-len(pair[1])], true
		}
	}
	return "", false
}
