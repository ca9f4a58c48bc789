package github

import (
	"strings"
	"unicode"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Text that Fermata did not write is shown literally. GitHub gives a meaning to
// more than Markdown: @names, #numbers, commits, addresses, words between
// colons. So there is no list of characters to escape. Text of harmless
// characters is written unchanged. All other text is written as code, where
// GitHub gives no meaning to it.

var (
	// autolinked matches text that GitHub links or draws although its characters
	// are harmless: GH-1 and the like, commits, addresses, emoji.
	autolinked = lazyregexp.New(`(?i)[a-z0-9]+-[0-9]|\b[0-9a-f]{7,40}\b|://|\bwww\.|:[a-z0-9_+-]+:`)
	// harmlessSigns are the allowed signs besides letters, digits and symbols.
	harmlessSigns = `,.;:?!'"()-–—/%+=&…’‘“”‚„«»·×→°⟨⟩ `
)

// isPlain reports whether GitHub shows the line unchanged.
func isPlain(line string) bool {
	for _, r := range line {
		if !unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc, unicode.So, unicode.Sc) && !strings.ContainsRune(harmlessSigns, r) || r == '$' {
			return false
		}
	}
	return !autolinked().MatchString(line)
}

// phrase writes another person's text within a line.
func phrase(s string) string { return inlineText(strings.TrimSpace(notice.OneLine(s))) }

// escapeVisible writes words whose hidden characters were already made visible.
// The numbers that replace these characters must not be escaped again.
func escapeVisible(s string) string {
	if strings.ContainsFunc(s, notice.IsHidden) {
		return phrase(s)
	}
	return inlineText(strings.Join(strings.Fields(s), " "))
}

func inlineText(line string) string {
	if isPlain(line) {
		return strings.ReplaceAll(line, "&", "&amp;")
	}
	return span(line)
}

// code writes a line as inline code.
func code(s string) string { return span(notice.OneLine(s)) }

// span encloses a line in more backquotes than it has in a row.
func span(s string) string {
	ticks := strings.Repeat("`", longestRun(s)+1)
	if s == "" {
		return "` `"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// fence writes lines as a code block. Its fence is longer than any in the
// lines.
func fence(info, s string) string {
	bar := strings.Repeat("`", max(3, longestRun(s)+1))
	return bar + info + "\n" + strings.TrimRight(s, "\n") + "\n" + bar
}

func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// block writes another person's paragraphs: as a quotation if they are plain,
// and otherwise as code with long lines broken.
func block(s string) string { return quote(notice.Clean(s)) }

func quote(s string) string {
	s = strings.TrimSpace(s)
	lines := strings.Split(s, "\n")
	for _, line := range lines {
		// A sign or a number at the beginning of a line could start a list.
		if first := []rune(line); len(first) > 0 && !unicode.IsLetter(first[0]) || !isPlain(line) {
			return fence("text", wrap(s, 100))
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+strings.ReplaceAll(line, "&", "&amp;"), " ")
	}
	// GitHub keeps line breaks within comments.
	return strings.Join(lines, "\n")
}

// wrap breaks long lines at spaces.
func wrap(s string, width int) string {
	var out strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		rest := []rune(line)
		for len(rest) > width {
			at := width
			for at > 0 && rest[at] != ' ' {
				at--
			}
			if at == 0 {
				break
			}
			out.WriteString(string(rest[:at]) + "\n")
			rest = rest[at+1:]
		}
		out.WriteString(string(rest))
	}
	return out.String()
}

// shorten cuts a text to maxRunes characters, and says that it did.
func shorten(s string, maxRunes int) string {
	runes := []rune(s)
	if len(runes) <= maxRunes {
		return s
	}
	return string(runes[:maxRunes]) + "\n… (cut here: open the question to read on)"
}
