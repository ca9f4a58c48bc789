package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a definition.
type Problem struct {
	// Line and Column count from 1.
	Line, Column int
	// Path is the path of the value, such as steps[1].condition.
	Path    string
	Message string
	Hint    string
	// Excerpt is the line of the source, with a caret below it at the column.
	Excerpt string
	// Warning says that the definition can be used in spite of the problem.
	Warning bool
}

// String returns the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// report collects problems.
type report struct {
	lines         []string
	problems      []Problem
	originalLines map[int]string // original lines by index, from 0
	// hasMoreErrors and hasMoreWarnings say that the limits left some out.
	hasMoreErrors, hasMoreWarnings bool
	// wasChecked says that the definition was accepted before.
	wasChecked bool
}

// maxProblems limits how many errors and how many warnings are reported. A file with more errors is probably no workflow
// at all.
const maxProblems = 100

func (r *report) add(p Problem) {
	p.Line = min(max(p.Line, 1), max(len(r.lines), 1))
	p.Column = max(p.Column, 1)
	for _, other := range r.problems {
		if other.Line == p.Line && other.Column == p.Column && other.Message == p.Message {
			return
		}
	}
	switch {
	case r.count(p.Warning) < maxProblems:
		p.Excerpt = r.excerpt(p.Line, p.Column)
		r.problems = append(r.problems, p)
	case p.Warning:
		r.hasMoreWarnings = true
	default:
		r.hasMoreErrors = true
	}
}

// isFull reports whether there are more errors than the limit, so that the rest of the file need not be checked.
func (r *report) isFull() bool { return r.hasMoreErrors }

// finish returns the problems in the order of lines. If the limits left some out, the last ones say so.
func (r *report) finish() []Problem {
	r.sortProblems()
	end := Problem{Line: max(len(r.lines), 1), Column: 1, Hint: "fix these first, and check the file again"}
	if r.hasMoreErrors {
		end.Message = fmt.Sprintf("there are more problems than the %d that are listed", maxProblems)
		r.problems = append(r.problems, end)
	}
	if r.hasMoreWarnings {
		end.Message, end.Warning = fmt.Sprintf("there are more warnings than the %d that are listed", maxProblems), true
		r.problems = append(r.problems, end)
	}
	return r.problems
}

// count returns the number of warnings, or of errors.
func (r *report) count(areWarnings bool) int {
	n := 0
	for _, p := range r.problems {
		if p.Warning == areWarnings {
			n++
		}
	}
	return n
}

// addAt adds a problem at the position of a tree.
func (r *report) addAt(t *tree, path, hint, format string, args ...any) {
	r.add(Problem{Line: t.line, Column: t.column, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *report) warn(t *tree, path, hint, format string, args ...any) {
	r.add(Problem{Line: t.line, Column: t.column, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Warning: true})
}

// excerptWidth is how many characters of a long line are shown. With the line number, they fit a terminal of 80
// columns.
const excerptWidth = 70

// excerpt returns the line and a caret below the column. A tab is shown as one blank, so that the caret is at the right
// place.
func (r *report) excerpt(line, column int) string {
	if line > len(r.lines) {
		return ""
	}
	text := []rune(strings.Map(func(c rune) rune {
		if c < ' ' || c == utf8.RuneError {
			return ' '
		}
		return c
	}, r.lines[line-1]))
	column = min(column, len(text)+1)
	from := 0
	if column > excerptWidth {
		from = column - excerptWidth/2
	}
	text = text[from:min(len(text), from+excerptWidth)]
	number := fmt.Sprintf("%4d | ", line)
	return number + strings.TrimRight(string(text), " ") + "\n" + strings.Repeat(" ", len(number)+column-1-from) + "^"
}

// sortProblems sorts the problems in the order of lines, errors and warnings together.
func (r *report) sortProblems() {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// hasErrors reports whether one of the problems is not a warning.
func (r *report) hasErrors() bool {
	return slices.ContainsFunc(r.problems, func(p Problem) bool { return !p.Warning })
}
