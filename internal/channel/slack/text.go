package slack

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf16"

	api "github.com/slack-go/slack"
)

// These are Slack's limits, in characters. Slack counts UTF-16 units in some places and runes in others. A text has
// at least as many UTF-16 units as runes, so utf16Length is compared with all limits.
const (
	maxHeader      = 150
	maxSection     = 3000
	maxButton      = 75
	maxOptionText  = 75
	maxOptionValue = 150
	maxOptions     = 100
	maxModalTitle  = 24
	maxLabel       = 2000
	maxInput       = 3000
	maxMetadata    = 3000
	maxBlockID     = 255
	maxConfirm     = 300
	maxBlocks      = 50
	maxModalBlocks = 100
	// maxMessageText is how many characters of text one message shows. Slack refuses messages ("msg_blocks_too_long")
	// above a length that it does not publish.
	maxMessageText = 11_000
	// maxMessageLength is how many characters a message has together with its buttons and menus.
	maxMessageLength = 12_500
	// maxBoxText leaves room in one box for the characters that Slack adds when it counts.
	maxBoxText = 2900
)

// lengthOf counts the characters of all texts in blocks. Blocks that cannot be encoded get the largest length.
func lengthOf(blocks []api.Block) int {
	data, err := json.Marshal(blocks)
	var written any
	if err == nil {
		err = json.Unmarshal(data, &written)
	}
	if err != nil {
		return math.MaxInt32
	}
	return lengthIn(written)
}

// lengthIn counts the characters of all members with the name text.
func lengthIn(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			n += lengthIn(inner)
		}
	case map[string]any:
		for name, inner := range v {
			if s, ok := inner.(string); ok && name == "text" {
				n += utf16Length(s)
			}
			n += lengthIn(inner)
		}
	}
	return n
}

func utf16Length(s string) int { return len(utf16.Encode([]rune(s))) }

// plainBlock returns text in which Slack reads no markup: no mention, no link, no emoji code, no formatting.
func plainBlock(s string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.PlainTextType, s, false, false)
}

// markupBlock returns text by Fermata in Slack's markup. Quoted parts must be escaped.
func markupBlock(s string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.MarkdownType, s, false, true)
}

// escapeMarkup escapes the three characters that begin Slack's control sequences.
func escapeMarkup(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// cut shortens s to at most n characters, and marks the cut with "…".
func cut(s string, n int) string {
	if utf16Length(s) <= n {
		return s
	}
	left := n - 1
	for i, r := range s {
		if left -= utf16.RuneLen(r); left < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// splitText splits s into parts of at most n characters, at the end of a line if possible.
func splitText(s string, n int) []string {
	var all []string
	for utf16Length(s) > n {
		end, left := 0, n
		for i, r := range s {
			if left -= utf16.RuneLen(r); left < 0 {
				end = i
				break
			}
		}
		if nl := strings.LastIndexByte(s[:end], '\n'); nl > end/2 {
			all, s = append(all, s[:nl]), s[nl+1:]
			continue
		}
		all, s = append(all, s[:end]), s[end:]
	}
	return append(all, s)
}
