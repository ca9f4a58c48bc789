package install

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// rows gives access to the rows of a JSON object or list. Adding a row and removing it again restores the exact bytes.
type rows struct {
	object *hujson.Object
	list   *hujson.Array
}

// rowsOf returns the rows of an object or a list, or false for any other value.
func rowsOf(v *hujson.Value) (rows, bool) {
	if v == nil {
		return rows{}, false
	}
	switch inside := v.Value.(type) {
	case *hujson.Object:
		return rows{object: inside}, true
	case *hujson.Array:
		return rows{list: inside}, true
	default:
		return rows{}, false
	}
}

func (r rows) size() int {
	if r.list != nil {
		return len(r.list.Elements)
	}
	return len(r.object.Members)
}

// gapBefore returns the text between a row and the comma or bracket before it.
func (r rows) gapBefore(n int) *hujson.Extra {
	if r.list != nil {
		return &r.list.Elements[n].BeforeExtra
	}
	return &r.object.Members[n].Name.BeforeExtra
}

// gapAfter returns the text between a row and the comma after it. For the last row it points to nil if there is no
// comma.
func (r rows) gapAfter(n int) *hujson.Extra {
	if r.list != nil {
		return &r.list.Elements[n].AfterExtra
	}
	return &r.object.Members[n].Value.AfterExtra
}

// end returns the text before the closing bracket.
func (r rows) end() *hujson.Extra {
	if r.list != nil {
		return &r.list.AfterExtra
	}
	return &r.object.AfterExtra
}

func memberName(m *hujson.ObjectMember) string {
	literal, _ := m.Name.Value.(hujson.Literal)
	return literal.String()
}

// rowNamed returns the value with the name, or nil.
func (r rows) rowNamed(name string) *hujson.Value {
	if n := r.indexOf(name); n >= 0 {
		return &r.object.Members[n].Value
	}
	return nil
}

func (r rows) indexOf(name string) int {
	if r.object == nil {
		return -1
	}
	return slices.IndexFunc(r.object.Members, func(m hujson.ObjectMember) bool { return memberName(&m) == name })
}

// add adds a row at the end, on a line of its own. If the object or list was empty, the text between its brackets
// stays before the row as a blank line. This blank line shows later that a person wrote the brackets.
func (r rows) add(name string, value hujson.ValueTrimmed, line string) {
	end, n := *r.end(), r.size()
	comments := bytes.TrimRight(end, " \t\r\n")
	hasTrailingComma := n > 0 && *r.gapAfter(n - 1) != nil
	before := comments
	if n == 0 && len(comments) == 0 && bytes.Contains(end, []byte("\n")) {
		before = end
	}
	row := hujson.Value{BeforeExtra: slices.Concat(before, hujson.Extra(line)), Value: value}
	if r.list != nil {
		r.list.Elements = append(r.list.Elements, row)
	} else {
		key := hujson.Value{BeforeExtra: row.BeforeExtra, Value: hujson.String(name)}
		row.BeforeExtra = hujson.Extra(" ")
		r.object.Members = append(r.object.Members, hujson.ObjectMember{Name: key, Value: row})
	}
	if hasTrailingComma {
		*r.gapAfter(n) = hujson.Extra{}
	}
	*r.end() = slices.Clone(end[len(comments):])
}

// remove removes a row. The comments before it stay, and so does a blank line.
func (r rows) remove(n int, style style) {
	last := r.size() - 1
	comments, hasTrailingComma := bytes.TrimRight(*r.gapBefore(n), " \t\r\n"), *r.gapAfter(last) != nil
	next := r.end()
	if n < last {
		next = r.gapBefore(n + 1)
	}
	if len(comments) > 0 && !bytes.Contains(*next, []byte("\n")) {
		comments = append(slices.Clone(comments), style.newline...)
	}
	if len(comments) == 0 {
		comments = blankLine(*r.gapBefore(n))
	}
	*next = slices.Concat(comments, *next)
	if r.list != nil {
		r.list.Elements = slices.Delete(r.list.Elements, n, n+1)
	} else {
		r.object.Members = slices.Delete(r.object.Members, n, n+1)
	}
	if n < last || n == 0 {
		return
	}
	switch after := r.gapAfter(n - 1); {
	case hasTrailingComma && *after == nil:
		*after = hujson.Extra{}
	case !hasTrailingComma:
		*r.end() = slices.Concat(*after, *r.end())
		*after = nil
	}
}

func (r rows) removeNamed(name string, style style) {
	if n := r.indexOf(name); n >= 0 {
		r.remove(n, style)
	}
}

// removeOwn removes Fermata's elements from the n-th one on, and reports whether there were any.
func (r rows) removeOwn(isOwn func([]byte) bool, n int, style style) (found bool) {
	for i := r.size() - 1; i >= n; i-- {
		if isOwn(bareJSON(&r.list.Elements[i])) {
			r.remove(i, style)
			found = true
		}
	}
	return found
}

// blankLine returns the text before the line of a row, if the row has a line of its own and a blank line before it.
func blankLine(before hujson.Extra) hujson.Extra {
	at := bytes.LastIndexByte(before, '\n')
	if at < 0 {
		return nil
	}
	if blank := bytes.TrimSuffix(before[:at], []byte("\r")); bytes.Contains(blank, []byte("\n")) {
		return slices.Clone(blank)
	}
	return nil
}

// isOnlyOwnBrackets reports whether only brackets that Fermata wrote are left. An empty object on one line belongs to a
// person. So does an object with the blank line of [rows.add]; isOnlyOwnBrackets then removes the added blank line.
func (r rows) isOnlyOwnBrackets() bool {
	if end := *r.end(); r.size() == 0 && len(end)%2 == 0 && bytes.Contains(end, []byte("\n")) {
		if half := end[:len(end)/2]; bytes.Equal(half, end[len(end)/2:]) {
			*r.end() = slices.Clone(half)
			return false
		}
	}
	return r.size() == 0 && bytes.Contains(*r.end(), []byte("\n")) && !bytes.Contains(*r.end(), []byte("/"))
}

// style is the line end and the indentation of a file.
type style struct{ newline, unit string }

// styleOf returns the style of a file: its line ends, and the indentation of its first row.
func styleOf(text []byte, root rows) style {
	s := style{newline: "\n", unit: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if root.size() > 0 {
		before := string(*root.gapBefore(0))
		indent := before[strings.LastIndexByte(before, '\n')+1:]
		if indent != "" && len(indent) < len(before) && strings.Trim(indent, " \t") == "" {
			s.unit = indent
		}
	}
	return s
}

// newLine returns a line end with the indentation of the depth.
func (s style) newLine(depth int) string { return s.newline + strings.Repeat(s.unit, depth) }

// format returns a value as JSON that begins on a line with the indentation of the depth.
func (s style) format(value any, depth int) (hujson.ValueTrimmed, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent(strings.Repeat(s.unit, depth), s.unit)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	parsed, err := hujson.Parse(bytes.ReplaceAll(text.Bytes(), []byte("\n"), []byte(s.newline)))
	return parsed.Value, err
}
