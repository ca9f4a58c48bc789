package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fermata-hq/fermata/internal/cli/hook"
)

// jsonPart is one part of a JSON file that belongs to Fermata.
type jsonPart struct {
	// path is the path of names to the part.
	path  []string
	value any
	// isOwn reports whether a value belongs to Fermata.
	isOwn func(value []byte) bool
	// inList reports whether the value is an element of a list with other elements.
	inList bool
}

func hookPart(event string, group hookGroup) jsonPart {
	return jsonPart{path: []string{"hooks", event}, value: group, inList: true, isOwn: func(value []byte) bool {
		var have hookGroup
		return isOwnHook(value) && json.Unmarshal(value, &have) == nil && have.hasWakingHook() == group.hasWakingHook()
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
	return len(words) > 0 && isOwnCommand(words[0], words[1:])
}

// isOwnCommand reports whether a command is one by which install lets an agent program start the MCP server.
func isOwnCommand(program string, args []string) bool {
	if len(args) == 0 || args[0] != "mcp" || !strings.HasPrefix(filepath.Base(program), hook.OwnServerName) {
		return false
	}
	flags := args[1:]
	for len(flags) >= 2 && (flags[0] == "--ask-tool" || flags[0] == "--url") {
		flags = flags[2:]
	}
	return len(flags) == 0
}

// isOwnHook reports whether the value is a group of hooks that install wrote.
func isOwnHook(value []byte) bool {
	var group hookGroup
	if json.Unmarshal(value, &group) != nil || len(group.Hooks) != 1 {
		return false
	}
	program, rest, ok := strings.Cut(group.Hooks[0].Command, " hook ")
	name, _, _ := strings.Cut(rest, " ")
	known := name == "claude" || name == "claude-desk" || name == "codex" || name == "gemini"
	return ok && known && strings.HasPrefix(filepath.Base(strings.Trim(program, "'")), hook.OwnServerName)
}

// jsonFile returns the configFile of a JSON file, which may have comments.
func jsonFile(path string, parts ...jsonPart) configFile {
	return configFile{path: path, edit: func(content []byte, remove bool) ([]byte, error) {
		return editJSON(content, remove, parts)
	}}
}

// newFileContent is the initial content of a new file.
const newFileContent = "{}\n"

func editJSON(content []byte, remove bool, parts []jsonPart) ([]byte, error) {
	text, isNew := content, len(bytes.TrimSpace(content)) == 0
	if isNew {
		if remove {
			return content, nil
		}
		text = []byte(newFileContent)
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
			part.removeFrom(root, style)
		} else if err := part.addTo(root, style); err != nil {
			return nil, err
		}
	}
	if isNew {
		*root.end() = hujson.Extra(style.newline)
	}
	if remove && !bytes.Equal(doc.Pack(), text) && root.isOnlyOwnBrackets() && !bytes.ContainsAny(doc.Pack(), "/") {
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

// removeFrom removes Fermata's part, and the objects that are empty without it. A value of another author in the same
// place stays.
func (p jsonPart) removeFrom(root rows, style style) {
	ancestors, found := []rows{root}, (*hujson.Value)(nil)
	for _, name := range p.path {
		inside, ok := rowsOf(found)
		if found != nil && !ok {
			return
		}
		if found != nil {
			ancestors = append(ancestors, inside)
		}
		if found = ancestors[len(ancestors)-1].rowNamed(name); found == nil {
			return
		}
	}
	if !p.inList {
		if !p.isOwn(bareJSON(found)) {
			return
		}
		ancestors[len(ancestors)-1].removeNamed(p.path[len(p.path)-1], style)
	} else if list, ok := rowsOf(found); !ok || list.list == nil || !list.removeOwn(p.isOwn, 0, style) || !list.isOnlyOwnBrackets() {
		return
	} else {
		ancestors[len(ancestors)-1].removeNamed(p.path[len(p.path)-1], style)
	}
	for n := len(ancestors) - 1; n > 0 && ancestors[n].isOnlyOwnBrackets(); n-- {
		ancestors[n-1].removeNamed(p.path[n-1], style)
	}
}

// addTo adds the value and the objects around it. A value that exists stays in its place, with the additions of a
// person.
func (p jsonPart) addTo(at rows, style style) error {
	for depth, name := range p.path {
		found := at.rowNamed(name)
		if found == nil {
			value, err := style.format(p.wrapValue(depth+1), depth+1)
			if err == nil {
				at.add(name, value, style.newLine(depth+1))
			}
			return err
		}
		last, path := depth == len(p.path)-1, strings.Join(p.path[:depth+1], ".")
		if last && !p.inList && !p.isOwn(bareJSON(found)) {
			return fmt.Errorf("%s is there already, and was not written by fermata install; rename or remove it first", path)
		}
		inside, ok := rowsOf(found)
		switch {
		case last && p.inList && (!ok || inside.list == nil):
			return fmt.Errorf("%s is no list", path)
		case !ok || !(last && p.inList) && inside.list != nil:
			return fmt.Errorf("%s is not what it should be", path)
		}
		at = inside
	}
	if p.inList {
		return p.renewElement(at, style)
	}
	return p.renewFields(at, style)
}

// wrapValue returns the value within the list and the objects that must surround it, from the level depth on.
func (p jsonPart) wrapValue(depth int) any {
	value := p.value
	if p.inList {
		value = []any{value}
	}
	for _, name := range slices.Backward(p.path[depth:]) {
		value = map[string]any{name: value}
	}
	return value
}

// renewElement writes the value into the list. It replaces Fermata's element unless that element does the same.
func (p jsonPart) renewElement(list rows, style style) error {
	depth := len(p.path) + 1
	value, err := style.format(p.value, depth)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(list.list.Elements, func(v hujson.Value) bool { return p.isOwn(bareJSON(&v)) })
	if n < 0 {
		list.add("", value, style.newLine(depth))
		return nil
	}
	have := &list.list.Elements[n]
	if renewed, ok := renewHook(bareJSON(have), bareJSON(&hujson.Value{Value: value})); ok {
		if value, err = style.format(renewed, depth); err != nil {
			return err
		}
		have.Value = value
	}
	list.removeOwn(p.isOwn, n+1, style)
	return nil
}

// startFields are the fields of a server that define how it is started. The other fields belong to the person.
var startFields = []string{"type", "command", "args"}

// renewFields adds the missing fields of the value, and updates those in startFields.
func (p jsonPart) renewFields(object rows, style style) error {
	depth := len(p.path) + 1
	value, err := style.format(p.value, depth-1)
	if err != nil {
		return err
	}
	want, ok := rowsOf(&hujson.Value{Value: value})
	if !ok || want.list != nil {
		return fmt.Errorf("%s is not what it should be", strings.Join(p.path, "."))
	}
	for i := range want.object.Members {
		name, field := memberName(&want.object.Members[i]), want.object.Members[i].Value
		have := object.rowNamed(name)
		switch {
		case have == nil:
			object.add(name, field.Value, style.newLine(depth))
		case slices.Contains(startFields, name) && !bytes.Equal(bareJSON(have), bareJSON(&field)):
			have.Value = field.Value
		}
	}
	return nil
}
