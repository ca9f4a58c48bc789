package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Kind is a kind of values.
type Kind string

// Kinds of values. Unknown means that only the evaluation shows the kind.
const (
	Unknown Kind = ""
	Null    Kind = "null"
	Boolean Kind = "boolean"
	Number  Kind = "number"
	String  Kind = "text"
	List    Kind = "list"
	Object  Kind = "object"
)

var comparisonOperators = []string{"==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith", "matches"}

// kindOf returns the kind of a node's result, or Unknown if it is not certain.
func kindOf(n ast.Node) Kind {
	switch n := n.(type) {
	case *ast.NilNode:
		return Null
	case *ast.IdentifierNode:
		if n.Value == "null" {
			return Null
		}
	case *ast.BoolNode:
		return Boolean
	case *ast.IntegerNode, *ast.FloatNode:
		return Number
	case *ast.StringNode:
		return String
	case *ast.ArrayNode:
		return List
	case *ast.MapNode:
		return Object
	case *ast.ChainNode:
		return kindOf(n.Node)
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return Boolean
		}
		return Number
	case *ast.BinaryNode:
		return kindOfBinary(n)
	case *ast.ConditionalNode:
		return commonKind(n.Exp1, n.Exp2)
	case *ast.BuiltinNode:
		return functionKinds[n.Name]
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return functionKinds[callee.Value]
		}
	}
	return Unknown
}

func kindOfBinary(n *ast.BinaryNode) Kind {
	switch {
	case slices.Contains(comparisonOperators, n.Operator):
		return Boolean
	case slices.Contains([]string{"||", "or", "&&", "and", "??"}, n.Operator):
		return commonKind(n.Left, n.Right)
	case n.Operator == "..":
		return List
	case n.Operator == "+":
		if k := commonKind(n.Left, n.Right); k == String || k == Number {
			return k
		}
	case slices.Contains([]string{"*", "/", "%", "**", "^"}, n.Operator):
		return Number
	}
	return Unknown
}

func commonKind(a, b ast.Node) Kind {
	if k := kindOf(a); k == kindOf(b) {
		return k
	}
	return Unknown
}

// functionKinds are the kinds of the functions' results.
var functionKinds = map[string]Kind{
	"all": Boolean, "any": Boolean, "count": Number, "filter": List, "map": List,
	"len": Number, "lower": String, "upper": String, "trim": String, "split": List, "join": String, "replace": String,
	"int": Number, "float": Number, "string": String, "toJSON": String, "keys": List, "values": List,
	"contains": Boolean, "startsWith": Boolean, "endsWith": Boolean,
}
