package notice

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// Marks returns what people type to pick each option of an item: letters A, B
// and so on. Where a letter could mean another option they are numbers, and
// where these could, numbers behind as many # as it takes.
func Marks(it *fermata.Item) []string {
	marks := make([]string, len(it.Options))
	for scheme := 0; ; scheme++ {
		for i := range marks {
			marks[i] = markOf(scheme, i)
		}
		if distinct(it, marks) {
			return marks
		}
	}
}

func markOf(scheme, i int) string {
	if scheme == 0 {
		return letter(i)
	}
	return strings.Repeat("#", scheme-1) + strconv.Itoa(i+1)
}

// letter returns A to Z, then AA, AB and so on.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// distinct reports whether every mark picks its option alone, and no option
// looks like a list of marks.
func distinct(it *fermata.Item, marks []string) bool {
	for i, m := range marks {
		if places := matchOptions(it, m); len(places) != 1 || places[0] != i {
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

// listsMarks reports whether a text reads as a list of marks.
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

// matchOptions returns the places of the options that a text can mean: by value or
// label, letter or number. A text in quotation marks is a value or a label.
func matchOptions(it *fermata.Item, text string) []int {
	var places []int
	add := func(fits func(o fermata.Option) bool) {
		for i, o := range it.Options {
			if fits(o) {
				places = withPlace(places, i)
			}
		}
	}
	add(func(o fermata.Option) bool { return o.Value == text || o.Label != "" && o.Label == text })
	if inner, ok := unquote(text); ok {
		before := len(places)
		add(func(o fermata.Option) bool { return o.Value == inner })
		if len(places) == before {
			add(func(o fermata.Option) bool { return o.Label != "" && o.Label == inner })
		}
		return places
	}
	if len(places) == 0 {
		add(func(o fermata.Option) bool {
			return strings.EqualFold(o.Value, text) || strings.EqualFold(o.Text(), text) || isShort(o.Text(), text) && strings.EqualFold(OneLine(o.Text()), text)
		})
	}
	if i, ok := place(text); ok && i < len(it.Options) {
		places = withPlace(places, i)
	}
	return places
}

// isShort reports whether s, on one line, may be as short as the text. Making
// hidden characters seen only makes a line longer, and takes its time.
func isShort(s, text string) bool {
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

func withPlace(places []int, i int) []int {
	if slices.Contains(places, i) {
		return places
	}
	return append(places, i)
}

// place reads a letter or a number as the place in a list, from 0.
func place(text string) (int, bool) {
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

// likeMark reports whether a text looks as if it were to pick an option.
func likeMark(text string) bool {
	_, ok := place(text)
	return ok && (len(strings.TrimRight(text, ".)")) == 1 || isInt(strings.TrimLeft(strings.TrimRight(text, ".)"), "#")))
}

// unquote takes the quotation marks off a text.
func unquote(text string) (string, bool) {
	for _, pair := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}} {
		if len(text) > len(pair[0])+len(pair[1]) && strings.HasPrefix(text, pair[0]) && strings.HasSuffix(text, pair[1]) {
			return text[len(pair[0]) : len(text)-len(pair[1])], true
		}
	}
	return "", false
}
