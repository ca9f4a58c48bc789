package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonPart is one thing of Fermata's in a JSON file.
type jsonPart struct {
	// at are the names that lead to it.
	at    []string
	value any
	// own reports whether what is there is Fermata's.
	own func(value []byte) bool
	// list puts the value into a list, beside others.
	list bool
}

func hookPart(event string, group matched) jsonPart {
	return jsonPart{at: []string{"hooks", event}, value: group, own: isOwnHook, list: true}
}

// isOwnServer knows Fermata's MCP server by how it is started.
func isOwnServer(value []byte) bool {
	var server struct {
		Command any      `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(value, &server) != nil {
		return false
	}
	words := server.Args
	switch c := server.Command.(type) {
	case string:
		words = append([]string{c}, words...)
	case []any:
		for _, v := range c {
			word, _ := v.(string)
			words = append(words, word)
		}
	}
	if len(words) == 4 && words[2] == "--ask-tool" {
		words = words[:2]
	}
	return len(words) == 2 && strings.HasPrefix(filepath.Base(words[0]), ownServer) && words[1] == "mcp"
}

// isOwnHook knows a group of hooks that install wrote.
func isOwnHook(value []byte) bool {
	var group matched
	if json.Unmarshal(value, &group) != nil || len(group.Hooks) != 1 {
		return false
	}
	program, rest, ok := strings.Cut(group.Hooks[0].Command, " hook ")
	name, _, _ := strings.Cut(rest, " ")
	known := name == "claude" || name == "claude-desk" || name == "codex" || name == "gemini"
	return ok && known && strings.HasPrefix(filepath.Base(strings.Trim(program, "'")), ownServer)
}

// jsonFile is a JSON file, which may have comments.
func jsonFile(path string, parts ...jsonPart) configFile {
	return configFile{path: path, edit: func(content []byte, remove bool) ([]byte, error) {
		return editJSON(content, remove, parts)
	}}
}

func editJSON(content []byte, remove bool, parts []jsonPart) ([]byte, error) {
	text := content
	if len(bytes.TrimSpace(text)) == 0 {
		if remove {
			return content, nil
		}
		text = []byte("{}\n")
	}
	doc, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if _, ok := doc.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("is no JSON object")
	}
	for _, part := range parts {
		if err := part.takeOut(&doc, remove); err != nil {
			return nil, err
		}
	}
	if remove {
		if object, ok := doc.Value.(*hujson.Object); ok && len(object.Members) == 0 && !bytes.ContainsAny(doc.Pack(), "/") {
			return nil, nil
		}
		return doc.Pack(), nil
	}
	for _, part := range parts {
		if err := part.putIn(&doc); err != nil {
			return nil, err
		}
	}
	out := doc.Pack()
	if sameJSON(content, out) {
		return content, nil
	}
	return out, nil
}

// sameJSON reports whether two texts have the same content, in the same order.
func sameJSON(a, b []byte) bool {
	var first, second bytes.Buffer
	left, errLeft := hujson.Standardize(bytes.Clone(a))
	right, errRight := hujson.Standardize(bytes.Clone(b))
	return errLeft == nil && errRight == nil && json.Compact(&first, left) == nil && json.Compact(&second, right) == nil &&
		first.String() == second.String()
}

// pointer writes the way to a place.
func pointer(names ...string) string {
	var sb strings.Builder
	for _, name := range names {
		sb.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return sb.String()
}

func patch(doc *hujson.Value, op, at string, value json.RawMessage) error {
	data, err := json.Marshal([]struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value,omitempty"`
	}{{op, at, value}})
	if err != nil {
		return err
	}
	outer := doc.Find(at[:strings.LastIndexByte(at, '/')])
	comma := lastComma(outer)
	trails := comma != nil && *comma != nil
	if err := doc.Patch(data); err != nil {
		return err
	}
	if comma := lastComma(outer); trails && comma != nil && *comma == nil {
		*comma = hujson.Extra{}
	}
	return nil
}

// lastComma is what stands between the last thing of a list or an object and
// the comma behind it: nil where there is none.
func lastComma(outer *hujson.Value) *hujson.Extra {
	switch v := outer.Value.(type) {
	case *hujson.Object:
		if n := len(v.Members); n > 0 {
			return &v.Members[n-1].Value.AfterExtra
		}
	case *hujson.Array:
		if n := len(v.Elements); n > 0 {
			return &v.Elements[n-1].AfterExtra
		}
	}
	return nil
}

// bareJSON is a value without comments.
func bareJSON(v *hujson.Value) []byte {
	clone := v.Clone()
	clone.Standardize()
	return clone.Pack()
}

// takeOut removes what is Fermata's, and what is empty without it. What
// somebody else wrote in its place is in the way of writing, not of removing.
func (p jsonPart) takeOut(doc *hujson.Value, remove bool) error {
	found := doc.Find(pointer(p.at...))
	if found == nil {
		return nil
	}
	if !p.list {
		if !p.own(bareJSON(found)) {
			if remove {
				return nil
			}
			return fmt.Errorf("%s is there already, and was not written by fermata install; rename or remove it first", strings.Join(p.at, "."))
		}
		return p.drop(doc)
	}
	list, ok := found.Value.(*hujson.Array)
	if !ok && remove {
		return nil
	}
	if !ok {
		return fmt.Errorf("%s is no list", strings.Join(p.at, "."))
	}
	before := len(list.Elements)
	for i := before - 1; i >= 0; i-- {
		if !p.own(bareJSON(&list.Elements[i])) {
			continue
		}
		if err := patch(doc, "remove", pointer(p.at...)+"/"+strconv.Itoa(i), nil); err != nil {
			return err
		}
	}
	if list, ok := doc.Find(pointer(p.at...)).Value.(*hujson.Array); ok && len(list.Elements) == 0 && before > 0 {
		return p.drop(doc)
	}
	return nil
}

// drop removes the place itself, and the objects around it that are empty then.
func (p jsonPart) drop(doc *hujson.Value) error {
	for n := len(p.at); n > 0; n-- {
		if err := patch(doc, "remove", pointer(p.at[:n]...), nil); err != nil {
			return err
		}
		outer, ok := doc.Find(pointer(p.at[:n-1]...)).Value.(*hujson.Object)
		if !ok || len(outer.Members) > 0 {
			return nil
		}
	}
	return nil
}

// putIn adds the value, and the objects around it.
func (p jsonPart) putIn(doc *hujson.Value) error {
	for n := 1; n < len(p.at); n++ {
		if err := ensure(doc, p.at[:n], "{}"); err != nil {
			return err
		}
	}
	at, depth := p.at, len(p.at)
	if p.list {
		if err := ensure(doc, p.at, "[]"); err != nil {
			return err
		}
		at, depth = append(append([]string{}, p.at...), "-"), depth+1
	}
	var value bytes.Buffer
	enc := json.NewEncoder(&value)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent(depth), "  ")
	if err := enc.Encode(p.value); err != nil {
		return err
	}
	return insert(doc, at, value.Bytes())
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// ensure makes a place that is not there.
func ensure(doc *hujson.Value, at []string, empty string) error {
	if found := doc.Find(pointer(at...)); found != nil {
		if found.Value.Kind() != hujson.Kind(empty[0]) {
			return fmt.Errorf("%s is not what it should be", strings.Join(at, "."))
		}
		return nil
	}
	return insert(doc, at, []byte(empty))
}

// insert adds a value on a line of its own.
func insert(doc *hujson.Value, at []string, value []byte) error {
	if err := patch(doc, "add", pointer(at...), []byte("null")); err != nil {
		return err
	}
	parsed, err := hujson.Parse(value)
	if err != nil {
		return err
	}
	line, end := hujson.Extra("\n"+indent(len(at))), hujson.Extra("\n"+indent(len(at)-1))
	switch outer := doc.Find(pointer(at[:len(at)-1]...)).Value.(type) {
	case *hujson.Object:
		added := &outer.Members[len(outer.Members)-1]
		added.Name.BeforeExtra = behind(added.Name.BeforeExtra, line)
		added.Value.BeforeExtra, added.Value.Value = hujson.Extra(" "), parsed.Value
		if len(outer.AfterExtra) == 0 {
			outer.AfterExtra = end
		}
	case *hujson.Array:
		added := &outer.Elements[len(outer.Elements)-1]
		added.BeforeExtra, added.Value = behind(added.BeforeExtra, line), parsed.Value
		if len(outer.AfterExtra) == 0 {
			outer.AfterExtra = end
		}
	}
	return nil
}

// behind begins a line, behind the comment that stands there already.
func behind(there, line hujson.Extra) hujson.Extra {
	if bytes.IndexByte(there, '/') < 0 {
		return line
	}
	return append(bytes.TrimRight(there, " \t\r\n"), line...)
}
