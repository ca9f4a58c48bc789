package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonPart is one part of a JSON file that belongs to Fermata.
type jsonPart struct {
	// at is the path of names to the part.
	at    []string
	value any
	// own reports whether a value belongs to Fermata.
	own func(value []byte) bool
	// list reports whether the value is an element of a list with other elements.
	list bool
}

func hookPart(event string, group matched) jsonPart {
	return jsonPart{at: []string{"hooks", event}, value: group, list: true, own: func(value []byte) bool {
		var have matched
		return isOwnHook(value) && json.Unmarshal(value, &have) == nil && have.wakes() == group.wakes()
	}}
}

// isOwnServer reports whether the value is Fermata's MCP server. It checks the command that starts the server.
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

// isOwnHook reports whether the value is a group of hooks that install wrote.
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

// jsonFile returns the configFile of a JSON file, which may have comments.
func jsonFile(path string, parts ...jsonPart) configFile {
	return configFile{path: path, edit: func(content []byte, remove bool) ([]byte, error) {
		return editJSON(content, remove, parts)
	}}
}

// fresh is the initial content of a new file.
const fresh = "{}\n"

func editJSON(content []byte, remove bool, parts []jsonPart) ([]byte, error) {
	text, isFresh := content, len(bytes.TrimSpace(content)) == 0
	if isFresh {
		if remove {
			return content, nil
		}
		text = []byte(fresh)
	}
	doc, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	root, ok := rowsOf(&doc)
	if !ok || root.list != nil {
		return nil, fmt.Errorf("is no JSON object")
	}
	style := styleOf(text, root)
	for _, part := range parts {
		if remove {
			part.takeOut(root, style)
		} else if err := part.putIn(root, style); err != nil {
			return nil, err
		}
	}
	if isFresh {
		*root.end() = hujson.Extra(style.newline)
	}
	if remove && !bytes.Equal(doc.Pack(), text) && root.isLeft() && !bytes.ContainsAny(doc.Pack(), "/") {
		return nil, nil
	}
	return doc.Pack(), nil
}

// bareJSON returns a value without comments and white space.
func bareJSON(v *hujson.Value) []byte {
	clone := v.Clone()
	clone.Minimize()
	return clone.Pack()
}

// takeOut removes Fermata's part, and the objects that are empty without it. A value of another author in the same
// place stays.
func (p jsonPart) takeOut(root rows, style style) {
	way, found := []rows{root}, (*hujson.Value)(nil)
	for _, name := range p.at {
		inside, ok := rowsOf(found)
		if found != nil && !ok {
			return
		}
		if found != nil {
			way = append(way, inside)
		}
		if found = way[len(way)-1].rowNamed(name); found == nil {
			return
		}
	}
	if !p.list {
		if !p.own(bareJSON(found)) {
			return
		}
		way[len(way)-1].removeNamed(p.at[len(p.at)-1], style)
	} else if list, ok := rowsOf(found); !ok || list.list == nil || !list.removeOwn(p.own, 0, style) || !list.isLeft() {
		return
	} else {
		way[len(way)-1].removeNamed(p.at[len(p.at)-1], style)
	}
	for n := len(way) - 1; n > 0 && way[n].isLeft(); n-- {
		way[n-1].removeNamed(p.at[n-1], style)
	}
}

// putIn adds the value and the objects around it. A value that exists stays in its place, with the additions of a
// person.
func (p jsonPart) putIn(at rows, style style) error {
	for depth, name := range p.at {
		found := at.rowNamed(name)
		if found == nil {
			value, err := style.write(p.wrapValue(depth+1), depth+1)
			if err == nil {
				at.add(name, value, style.line(depth+1))
			}
			return err
		}
		last, path := depth == len(p.at)-1, strings.Join(p.at[:depth+1], ".")
		if last && !p.list && !p.own(bareJSON(found)) {
			return fmt.Errorf("%s is there already, and was not written by fermata install; rename or remove it first", path)
		}
		inside, ok := rowsOf(found)
		switch {
		case last && p.list && (!ok || inside.list == nil):
			return fmt.Errorf("%s is no list", path)
		case !ok || !(last && p.list) && inside.list != nil:
			return fmt.Errorf("%s is not what it should be", path)
		}
		at = inside
	}
	if p.list {
		return p.renewElement(at, style)
	}
	return p.renewFields(at, style)
}

// wrapValue returns the value within the list and the objects that must surround it, from the level names on.
func (p jsonPart) wrapValue(names int) any {
	value := p.value
	if p.list {
		value = []any{value}
	}
	for _, name := range slices.Backward(p.at[names:]) {
		value = map[string]any{name: value}
	}
	return value
}

// renewElement writes the value into the list. It replaces Fermata's element unless that element does the same.
func (p jsonPart) renewElement(list rows, style style) error {
	depth := len(p.at) + 1
	value, err := style.write(p.value, depth)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(list.list.Elements, func(v hujson.Value) bool { return p.own(bareJSON(&v)) })
	if n < 0 {
		list.add("", value, style.line(depth))
		return nil
	}
	have := &list.list.Elements[n]
	if renewed, ok := renewHook(bareJSON(have), bareJSON(&hujson.Value{Value: value})); ok {
		if value, err = style.write(renewed, depth); err != nil {
			return err
		}
		have.Value = value
	}
	list.removeOwn(p.own, n+1, style)
	return nil
}

// renewed are the fields of a server that define how it is started. The other fields belong to the person.
var renewed = []string{"type", "command", "args"}

// renewFields adds the missing fields of the value, and updates those in renewed.
func (p jsonPart) renewFields(object rows, style style) error {
	depth := len(p.at) + 1
	value, err := style.write(p.value, depth-1)
	if err != nil {
		return err
	}
	want, ok := rowsOf(&hujson.Value{Value: value})
	if !ok || want.list != nil {
		return fmt.Errorf("%s is not what it should be", strings.Join(p.at, "."))
	}
	for i := range want.object.Members {
		name, field := nameOf(&want.object.Members[i]), want.object.Members[i].Value
		have := object.rowNamed(name)
		switch {
		case have == nil:
			object.add(name, field.Value, style.line(depth))
		case slices.Contains(renewed, name) && !bytes.Equal(bareJSON(have), bareJSON(&field)):
			have.Value = field.Value
		}
	}
	return nil
}
