package email

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// decodeUTF7 reads text in UTF-7 (RFC 2152), which some gateways still write.
// Parts that are not UTF-7 stay unchanged.
func decodeUTF7(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "+")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !inBase64(r) })
		if end < 0 {
			end = len(rest)
		}
		coded := rest[:end]
		s = strings.TrimPrefix(rest[end:], "-")
		switch text, ok := decodeUTF16(coded); {
		case coded == "" && len(s) < len(rest):
			b.WriteString("+") // +- is a plus
		case coded != "" && ok:
			b.WriteString(text)
		default:
			b.WriteString("+" + coded)
			s = rest[end:]
		}
	}
}

func inBase64(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '/'
}

// decodeUTF16 reads base64 without padding that holds UTF-16, high byte first.
func decodeUTF16(coded string) (string, bool) {
	raw, err := base64.RawStdEncoding.DecodeString(coded)
	if err != nil || len(raw) < 2 {
		return "", false
	}
	units := make([]uint16, 0, len(raw)/2)
	for ; len(raw) >= 2; raw = raw[2:] {
		units = append(units, binary.BigEndian.Uint16(raw))
	}
	return string(utf16.Decode(units)), true
}
