package standin

import "strings"

// StripQuotes returns a Markdown text without its quotations and code.
func StripQuotes(body string) string {
	var own []string
	fence := ""
	for line := range strings.SplitSeq(body, "\n") {
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if len(mark) >= len(fence) && strings.TrimSpace(line) == mark {
				fence = ""
			}
		case len(mark) >= 3:
			fence = mark
		case !strings.HasPrefix(line, ">"):
			own = append(own, line)
		}
	}
	return strings.Join(own, "\n")
}
