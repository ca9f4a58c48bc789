package test

import (
	"bytes"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// proseReaders has the functions that return the text for people in a file, by the end of its name. They replace every
// other byte except white space by codeByte, so that lines and positions stay.
var proseReaders = map[string]func([]byte) string{
	".go":  proseOfGo,
	".ts":  proseOfScript,
	".tsx": proseOfScript,
	".mjs": proseOfScript,
	".md":  proseOfPage,
}

// codeByte stands where a file has code. No pattern matches it.
const codeByte = '|'

// proseOfPage returns a page of Markdown as it is. Its blocks have texts for people, too.
func proseOfPage(source []byte) string { return string(source) }

// proseOfGo returns the comments and string literals of a Go file.
func proseOfGo(source []byte) string {
	prose := hideCode(source)
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return string(prose)
		}
		if tok != token.COMMENT && tok != token.STRING {
			continue
		}
		at := file.Offset(pos)
		copy(prose[at:], source[at:min(at+len(literal), len(source))])
		if tok == token.COMMENT {
			hideCommentMarks(prose[at : at+len(literal)])
		}
		for _, key := range jsonKey.FindAllStringIndex(literal, -1) {
			copy(prose[at+key[0]:], strings.Repeat(string(codeByte), key[1]-key[0]))
		}
	}
}

// jsonKey matches the part of a field's tag that names its key on the wire.
var jsonKey = regexp.MustCompile(`json:"[^"]*"`)

// proseOfScript returns the comments and strings of a TypeScript or JavaScript file. It knows no grammar: a text
// between tags counts as code, and what it holds for a regular expression or a string ends at the end of the line.
func proseOfScript(source []byte) string {
	prose := hideCode(source)
	s := scriptScanner{source: source, prose: prose}
	s.scanCode(0, false)
	return string(prose)
}

// scriptScanner copies the comments and strings of a script into prose.
type scriptScanner struct{ source, prose []byte }

// scanCode reads code from a position on, and returns where it ends: at the end of the file or, inside a template
// literal, behind the brace that closes the expression.
func (s scriptScanner) scanCode(at int, inTemplate bool) int {
	depth, last := 0, byte('(')
	for at < len(s.source) {
		c := s.source[at]
		switch {
		case s.startsWith(at, "//"):
			at = s.copyText(at, s.endOfLine(at), true)
		case s.startsWith(at, "/*"):
			at = s.copyText(at, s.endOfBlock(at), true)
		case c == '/' && strings.IndexByte("(,=:[!&|?{};+>", last) >= 0:
			at = s.endOfQuoted(at, '/')
		case c == '"' || c == '\'':
			at = s.copyText(at, s.endOfQuoted(at, c), false)
		case c == '`':
			at = s.scanTemplate(at + 1)
		case c == '}' && depth == 0 && inTemplate:
			return at + 1
		default:
			depth += map[byte]int{'{': 1, '}': -1}[c]
			at++
		}
		if c > ' ' {
			last = c
		}
	}
	return at
}

// scanTemplate reads the rest of a template literal, and returns where it ends.
func (s scriptScanner) scanTemplate(at int) int {
	for at < len(s.source) {
		switch {
		case s.source[at] == '`':
			return at + 1
		case s.startsWith(at, "${"):
			at = s.scanCode(at+2, true)
		case s.source[at] == '\\':
			at = s.copyText(at, min(at+2, len(s.source)), false)
		default:
			at = s.copyText(at, at+1, false)
		}
	}
	return at
}

func (s scriptScanner) startsWith(at int, mark string) bool {
	return bytes.HasPrefix(s.source[at:], []byte(mark))
}

// copyText copies the bytes from one position to another, and returns the second one.
func (s scriptScanner) copyText(from, to int, isComment bool) int {
	copy(s.prose[from:to], s.source[from:to])
	if isComment {
		hideCommentMarks(s.prose[from:to])
	}
	return to
}

func (s scriptScanner) endOfLine(at int) int {
	for at < len(s.source) && s.source[at] != '\n' {
		at++
	}
	return at
}

func (s scriptScanner) endOfBlock(at int) int {
	if n := bytes.Index(s.source[at:], []byte("*/")); n >= 0 {
		return at + n + len("*/")
	}
	return len(s.source)
}

// endOfQuoted returns the position behind the quote that ends what starts at a position, or the end of its line.
func (s scriptScanner) endOfQuoted(at int, quote byte) int {
	for at++; at < len(s.source) && s.source[at] != '\n'; at++ {
		switch s.source[at] {
		case '\\':
			at++
		case quote:
			return at + 1
		}
	}
	return min(at, len(s.source))
}

// hideCode returns a copy that has codeByte in place of everything except white space.
func hideCode(source []byte) []byte {
	prose := slices.Clone(source)
	for i, c := range prose {
		if c > ' ' {
			prose[i] = codeByte
		}
	}
	return prose
}

// hideCommentMarks replaces the marks of a comment by spaces, so that a phrase may run over the end of a line.
func hideCommentMarks(comment []byte) {
	startsLine := true
	for i, c := range comment {
		switch {
		case c == '\n':
			startsLine = true
		case startsLine && (c == '/' || c == '*'):
			comment[i] = ' '
		case c > ' ':
			startsLine = false
		}
	}
}
