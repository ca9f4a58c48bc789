package definition

import (
	"strconv"
	"strings"
)

// Limits of a file.
const (
	MaxSource = 256 << 10 // bytes
	MaxSteps  = 1000
	MaxItems  = 1000 // of foreach
	maxDepth  = 32
)

// tree is a value of the file with its position.
type tree struct {
	// value is nil, a bool, an int64, a float64, a string, *mapping, []*tree or
	// unreadableValue.
	value  any
	line   int
	column int // in characters, from 1
	style  style
}

// mapping is an object with its keys in the order of the file.
type mapping struct {
	keys   []*tree // their values are strings
	values []*tree
}

// unreadableValue replaces a value that was reported when the file was parsed,
// so that it is not reported again.
type unreadableValue struct{}

// style is how a text is written in the file. The positions of characters equal
// those in the file only for a plain text.
type style int

const (
	plainStyle style = iota
	quotedStyle
	blockStyle
)

// get returns the value of a key, or nil if the tree does not have the key.
func (t *tree) get(key string) *tree {
	m := t.mapping()
	if m == nil {
		return nil
	}
	for i := range m.keys {
		if m.keys[i].value == key {
			return m.values[i]
		}
	}
	return nil
}

// key returns the key itself, or the tree if it does not have the key.
func (t *tree) key(name string) *tree {
	if m := t.mapping(); m != nil {
		for _, k := range m.keys {
			if k.value == name {
				return k
			}
		}
	}
	return t
}

func (t *tree) mapping() *mapping {
	if t == nil {
		return nil
	}
	m, _ := t.value.(*mapping)
	return m
}

func (t *tree) list() []*tree {
	if t == nil {
		return nil
	}
	l, _ := t.value.([]*tree)
	return l
}

// text returns a text, or "" if the value is no text.
func (t *tree) text() string {
	if t == nil {
		return ""
	}
	s, _ := t.value.(string)
	return s
}

func (t *tree) boolean() bool {
	if t == nil {
		return false
	}
	b, _ := t.value.(bool)
	return b
}

func (t *tree) integer() *int {
	if t == nil {
		return nil
	}
	n, ok := t.value.(int64)
	if !ok {
		return nil
	}
	i := int(n)
	return &i
}

func (t *tree) isUnreadable() bool {
	if t == nil {
		return false
	}
	_, ok := t.value.(unreadableValue)
	return ok
}

// nodeAt follows the path of a JSON pointer. It returns the deepest tree that
// exists, and whether a value on the way is unreadable.
func (t *tree) nodeAt(path []string) (*tree, bool) {
	for _, name := range path {
		if t.isUnreadable() {
			return t, true
		}
		next := t.get(name)
		if list := t.list(); list != nil {
			if i, err := strconv.Atoi(name); err == nil && i < len(list) {
				next = list[i]
			}
		}
		if next == nil {
			return t, false
		}
		t = next
	}
	return t, t.isUnreadable()
}

// plainValue returns the value as decoded JSON. An unreadable value becomes
// null.
func (t *tree) plainValue() any {
	switch v := t.value.(type) {
	case *mapping:
		o := make(map[string]any, len(v.keys))
		for i, k := range v.keys {
			o[k.text()] = v.values[i].plainValue()
		}
		return o
	case []*tree:
		l := make([]any, len(v))
		for i := range v {
			l[i] = v[i].plainValue()
		}
		return l
	case unreadableValue:
		return nil
	}
	return t.value
}

// PathOf writes a JSON pointer in the form that people read:
// steps[1].condition.
func PathOf(pointer []string) string {
	var b strings.Builder
	for _, name := range pointer {
		if _, err := strconv.Atoi(name); err == nil {
			b.WriteString("[" + name + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}
