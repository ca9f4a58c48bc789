package workflow

import (
	"encoding/json"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// exactJSON is a value of a script as JSON. Its keys keep their order, and its numbers their digits.
type exactJSON []byte

// UnmarshalYAML writes a value as JSON.
func (j *exactJSON) UnmarshalYAML(node ast.Node) error {
	switch node := node.(type) {
	case ast.MapNode:
		return j.writeObject(node)
	case *ast.SequenceNode:
		return j.writeList(node)
	case *ast.IntegerNode, *ast.FloatNode:
		if number := node.GetToken().Value; json.Valid([]byte(number)) {
			*j = append(*j, number...)
			return nil
		}
	}
	var value any
	if err := yaml.NodeToValue(node, &value); err != nil {
		return toNodeError(err)
	}
	*j = append(*j, encodeJSON(value)...) // definition.CheckYAML has refused numbers that JSON cannot write
	return nil
}

func (j *exactJSON) writeObject(object ast.MapNode) error {
	*j = append(*j, '{')
	for entries, separator := object.MapRange(), ""; entries.Next(); separator = "," {
		*j = append(append(append(*j, separator...), encodeJSON(entries.Key().GetToken().Value)...), ':')
		if err := j.UnmarshalYAML(entries.Value()); err != nil {
			return err
		}
	}
	*j = append(*j, '}')
	return nil
}

func (j *exactJSON) writeList(list *ast.SequenceNode) error {
	*j = append(*j, '[')
	for i, value := range list.Values {
		if i > 0 {
			*j = append(*j, ',')
		}
		if err := j.UnmarshalYAML(value); err != nil {
			return err
		}
	}
	*j = append(*j, ']')
	return nil
}
