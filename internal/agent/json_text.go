package agent

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// JSONTexts returns the parts of a text that may be the JSON that it gives, the likeliest first: the whole text, its last
// fenced block, the last value on lines of its own, the only object, and the last line. A part of a value that is not
// finished, or that is broken, is none of them.
func JSONTexts(text string) []string {
	found := findJSON(text)
	texts := []string{text}
	if blocks := fencedBlock().FindAllStringSubmatchIndex(text, -1); len(blocks) > 0 {
		last := blocks[len(blocks)-1]
		if found.unfinished < last[1] {
			texts = append(texts, text[last[2]:last[3]])
		}
	}
	if found.unfinished >= 0 {
		return texts
	}
	for i := len(found.values) - 1; i >= 0; i-- {
		if v := found.values[i]; hasOwnLines(text, v) {
			texts = append(texts, text[v.start:v.end])
			break
		}
	}
	if object := (span{strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}') + 1}); slices.Contains(found.values, object) {
		texts = append(texts, text[object.start:object.end])
	}
	if line := lastLine(text); json.Valid([]byte(line)) && !strings.ContainsAny(line[:1], "{[") {
		texts = append(texts, line)
	}
	return texts
}

// span is a part of a text.
type span struct{ start, end int }

// hasOwnLines reports whether the lines of a part of a text hold nothing else.
func hasOwnLines(text string, part span) bool {
	const blanks = " \t\r"
	before, after := strings.TrimRight(text[:part.start], blanks), strings.TrimLeft(text[part.end:], blanks)
	return (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || after[0] == '\n')
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// foundJSON is the JSON in a text.
type foundJSON struct {
	// values are the complete objects and lists that are in no other one, in their order.
	values []span
	// unfinished is where an object or list begins that goes on when the text ends. It is -1 if there is none.
	unfinished int
}

// findJSON finds the objects and lists in a text. A bracket that no JSON follows, as in [info] or {not json}, is text. An
// object or list with an error behind its first element is broken: nothing inside it is found. The time that it takes
// grows with the length of the text alone.
func findJSON(text string) foundJSON {
	text = strings.TrimRight(text, " \t\r\n")
	found := foundJSON{unfinished: -1}
	closers := matchBrackets(text)
	for at := 0; at < len(text); {
		switch text[at] {
		case '{', '[':
			length, err := scanValue(text[at:])
			switch {
			case err == nil:
				found.values = append(found.values, span{at, at + length})
				at += length
			case errors.Is(err, io.ErrUnexpectedEOF):
				found.unfinished = at
				return found
			default:
				at = skipBroken(text, at, at+length, closers)
			}
		case '}', ']':
			if _, isText := closers[at]; !isText {
				found.dropElements(text[:at])
			}
			at++
		default:
			at++
		}
	}
	return found
}

// dropElements drops the values found so far if a bracket without a beginning follows the last of them: they are elements of a
// value whose beginning is lost.
func (f *foundJSON) dropElements(before string) {
	if n := len(f.values); n > 0 && strings.TrimLeft(before[f.values[n-1].end:], " \t\r\n,]}") == "" {
		f.values = nil
	}
}

// scanValue returns the length of the JSON value at the beginning of a text. The error is [io.ErrUnexpectedEOF] if the text
// ends inside the value; after any other error, length is where it was found.
func scanValue(text string) (length int, err error) {
	var value json.RawMessage
	dec := json.NewDecoder(strings.NewReader(text))
	err = dec.Decode(&value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(syntax.Offset) - 1, err
	}
	return int(dec.InputOffset()), err
}

// skipBroken returns where to go on behind brackets that no valid JSON follows. They began at start, and the error is at wrong.
func skipBroken(text string, start, wrong int, closers map[int]int) int {
	if !strings.ContainsAny(text[start:wrong], `,:"}]`) {
		return max(wrong, start+1) // no element was complete, so it is text
	}
	if end, ok := closers[start]; ok {
		return max(wrong, end+1)
	}
	if line := strings.IndexByte(text[wrong:], '\n'); line >= 0 {
		return wrong + line + 1
	}
	return len(text)
}

// matchBrackets returns where the bracket is that belongs to another one, for both of them. Brackets in quotes do not count;
// quotes end with their line.
func matchBrackets(text string) map[int]int {
	matches := map[int]int{}
	var open []int
	count := map[byte]int{}
	isQuoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			isQuoted = false
		case isQuoted && c == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
		case c == '"':
			isQuoted = !isQuoted
		case isQuoted:
		case c == '{' || c == '[':
			open = append(open, i)
			count[c]++
		case c == '}' || c == ']':
			opens := c - 2 // in ASCII
			if count[opens] == 0 {
				continue
			}
			for isMatch := false; !isMatch; {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				count[text[last]]--
				if isMatch = text[last] == opens; isMatch {
					matches[last], matches[i] = i, last
				}
			}
		}
	}
	return matches
}
