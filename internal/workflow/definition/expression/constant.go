package expression

import (
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// constant is a part of an expression that reads no name, so that its result is the same in every run.
type constant struct {
	text   string
	offset int
}

// Limits of the evaluation of a constant. One that needs more is not judged.
const (
	constantIterations = 1000
	constantText       = 64 << 10
)

// ConstantFaults evaluates the constant parts of the expression, such as 1 + "a", and returns those that always fail.
func (e *Expression) ConstantFaults() []Fault {
	if e.program == nil {
		return nil // its faults were reported
	}
	var faults []Fault
	for _, c := range e.constants {
		part, wrong := Parse(c.text)
		if wrong != nil {
			continue
		}
		m := &meter{iterations: constantIterations, bytes: constantText, elements: constantIterations, memory: constantIterations}
		_, err := part.run(nil, m)
		if err == nil || m.iterations < 0 || m.bytes < 0 || strings.Contains(err.Error(), "builds lists of more") {
			continue
		}
		fault := Fault{Offset: c.offset, Message: err.Error()}
		if own, ok := asOwn(err); ok {
			fault.Message, fault.Hint = own.Message, own.Hint
		}
		faults = append(faults, fault)
	}
	return faults
}

// RangeLength returns the number of elements of an expression that is a range of two fixed numbers, such as 1..3, and else
// 0.
func (e *Expression) RangeLength() int { return e.rangeLength }

func rangeLengthOf(n ast.Node) int {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != ".." {
		return 0
	}
	from, isFirstFixed := b.Left.(*ast.IntegerNode)
	to, isLastFixed := b.Right.(*ast.IntegerNode)
	if !isFirstFixed || !isLastFixed {
		return 0
	}
	if to.Value < from.Value {
		return 0
	}
	if length := to.Value - from.Value + 1; length > 0 {
		return length
	}
	return math.MaxInt
}

// constantsIn returns the largest constant parts of an expression that can fail: operations and calls. A missing part of a
// constant is left out, because it may be meant, as in [][0] ?? 1.
func constantsIn(n ast.Node) []constant {
	if canFail(n) && isConstant(n) {
		return []constant{{n.String(), location(n)}}
	}
	var all []constant
	for _, part := range partsOf(n) {
		all = append(all, constantsIn(part)...)
	}
	return all
}

// canFail reports whether a node is an operation or a call.
func canFail(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.UnaryNode, *ast.CallNode, *ast.BuiltinNode:
		return true
	case *ast.BinaryNode:
		switch n.Operator {
		case "??", "||", "or", "&&", "and":
			return false
		}
		return true
	}
	return false
}

// isConstant reports whether a node reads no name and no element of a predicate outside of it.
func isConstant(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return true
	case *ast.IdentifierNode:
		return n.Value == "null"
	case *ast.ArrayNode, *ast.MapNode, *ast.PairNode, *ast.UnaryNode, *ast.BinaryNode, *ast.CallNode:
	default: // access to a part, a predicate, or something that is no expression
		return false
	}
	for _, part := range partsOf(n) {
		if !isConstant(part) {
			return false
		}
	}
	return true
}

// partsOf returns the operands, arguments and elements of a node. The name of a called function is none of them.
func partsOf(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.CallNode:
		return n.Arguments
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	}
	return nil
}
