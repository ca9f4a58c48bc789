package redact

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// findInvisible finds secrets that are split by invisible characters.
func findInvisible(s string) []finding {
	return findJoined(s, func(_ string, _ int, r rune) int {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == combiningJoiner {
			return utf8.RuneLen(r)
		}
		return 0
	})
}

// combiningJoiner is invisible, but no format character.
const combiningJoiner = '\u034F'

// findBroken finds secrets that are split by line ends. It leaves out a secret whose part is a secret by itself: that
// part is found already, and the next line is most often another word.
func findBroken(s string, whole []finding) []finding {
	found := findJoined(s, lineBreakAt)
	return slices.DeleteFunc(found, func(f finding) bool {
		return f.kind == genericKind || slices.ContainsFunc(whole, func(w finding) bool { return w.from < f.to && f.from < w.to })
	})
}

// genericKind is the rule that recognises a secret by the word before it and not by its own form.
const genericKind = "generic-api-key"

// findJoined finds secrets that contain a cut. The function cut returns the number of bytes to leave out at a place, or
// 0.
func findJoined(s string, cut func(s string, i int, r rune) int) []finding {
	joined, offsets := removeCuts(s, cut)
	if len(joined) == len(s) {
		return nil
	}
	var found []finding
	for _, f := range findPlain(joined) {
		from, to := offsets[f.from], offsets[f.to-1]+1
		if to-from > f.to-f.from {
			found = append(found, finding{kind: f.kind, from: from, to: to})
		}
	}
	return found
}

// removeCuts returns the text without the cuts, and the place of each of its bytes in the old text.
func removeCuts(s string, cut func(s string, i int, r rune) int) (joined string, offsets []int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n := cut(s, i, r); n > 0 {
			i += n
			continue
		}
		for k := range size {
			offsets = append(offsets, i+k)
		}
		b.WriteString(s[i : i+size])
		i += size
	}
	return b.String(), offsets
}

func lineBreakAt(s string, i int, _ rune) int {
	if i == 0 || !isTokenByte(s[i-1]) || s[i] != '\\' && s[i] != '\r' && s[i] != '\n' {
		return 0
	}
	if n := lineEndPattern().FindStringIndex(s[i:]); n != nil && i+n[1] < len(s) && isTokenByte(s[i+n[1]]) {
		return n[1]
	}
	return 0
}

// lineEndPattern matches the end of a line with its continuation mark, and the indentation or quote mark of the next line.
// JSON writes a line end as an escape.
var lineEndPattern = lazyregexp.New(`^\\?(?:\r?\n|\\r\\n|\\n)(?:[ \t]|\\t|[>|] ?)*`)

func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("_-./+=:", c) >= 0
}

// base64Pattern matches text that may be base64 (RFC 4648) of 18 bytes or more.
var base64Pattern = lazyregexp.New(`[A-Za-z0-9+/_-]{24,}={0,2}`)

// findEncoded finds secrets that are encoded in base64.
func findEncoded(s string) []finding {
	var found []finding
	for _, at := range base64Pattern().FindAllStringIndex(s, -1) {
		if inner := findPlain(decodeBase64(s[at[0]:at[1]])); len(inner) > 0 {
			found = append(found, finding{kind: inner[0].kind + " in base64", from: at[0], to: at[1]})
		}
	}
	return found
}

// decodeBase64 returns the text that is encoded in base64, or "" if there is none.
func decodeBase64(s string) string {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(raw) {
		return ""
	}
	return string(raw)
}
