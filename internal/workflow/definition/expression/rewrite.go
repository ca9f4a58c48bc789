package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// predicates are the functions that take a predicate. The other functions are
// in functionTable.
var predicates = map[string]bool{"all": true, "any": true, "filter": true, "map": true, "count": true}

// rewriter rewrites a parsed expression into the one that is compiled, and
// collects its names and faults. It does not use the visitors of the library,
// because the meaning of a name depends on its context.
type rewriter struct {
	refs        []Ref
	choices     []Choice
	comparisons []Comparison
	faults      []Fault
	vars        int
}

func (r *rewriter) addFault(n ast.Node, hint, format string, args ...any) {
	r.faults = append(r.faults, Fault{Offset: location(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

// node rewrites n. If optional is true, missing names in it are null.
func (r *rewriter) node(n ast.Node, optional bool) ast.Node {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return r.identifier(n)
	case *ast.MemberNode:
		return r.member(n, optional)
	case *ast.ChainNode: // the node of ?.
		return r.node(n.Node, true)
	case *ast.SliceNode:
		n.Node = r.node(n.Node, false)
		n.From, n.To = r.sliceEnd(n.From), r.sliceEnd(n.To)
	case *ast.UnaryNode:
		return r.unary(n)
	case *ast.BinaryNode:
		return r.binary(n, optional)
	case *ast.ConditionalNode:
		n.Cond = r.call(n, "$bool", r.node(n.Cond, false), sourceLiteral(n.Cond))
		n.Exp1, n.Exp2 = r.node(n.Exp1, optional), r.node(n.Exp2, optional)
	case *ast.ArrayNode:
		r.nodes(n.Nodes)
	case *ast.MapNode:
		for _, p := range n.Pairs {
			if pair, ok := p.(*ast.PairNode); ok {
				pair.Key, pair.Value = r.node(pair.Key, false), r.node(pair.Value, false)
			}
		}
	case *ast.BuiltinNode:
		return r.builtin(n)
	case *ast.CallNode:
		return r.function(n)
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		r.addFault(n, "name the value by a step's output, or write it out", "expressions have no variables and no sequences")
	case *ast.BytesNode:
		r.addFault(n, "write a text", "expressions have no bytes")
	}
	return n
}

// sliceEnd rewrites the first or last index of a slice, which may be missing.
func (r *rewriter) sliceEnd(n ast.Node) ast.Node {
	if n == nil {
		return nil
	}
	source := sourceLiteral(n)
	return r.call(n, "$whole", r.node(n, false), source)
}

func (r *rewriter) nodes(list []ast.Node) {
	for i := range list {
		list[i] = r.node(list[i], false)
	}
}

func (r *rewriter) identifier(n *ast.IdentifierNode) ast.Node {
	switch {
	case n.Value == "null":
		return withLocation(n, &ast.NilNode{})
	case strings.HasPrefix(n.Value, "$"):
		r.addFault(n, "", "%q is no name", n.Value)
	default:
		r.refs = append(r.refs, Ref{Root: n.Value, Offset: location(n)})
	}
	return n
}

// member rewrites a.b and a[b] into a call that knows whether the part may be
// missing.
func (r *rewriter) member(n *ast.MemberNode, optional bool) ast.Node {
	if n.Method {
		r.addFault(n, "", "values have no functions of their own")
	}
	source := sourceLiteral(n)
	from := len(r.refs)
	optional = optional || n.Optional
	base := r.node(n.Node, optional)
	if key, ok := n.Property.(*ast.StringNode); ok && len(r.refs) == from+1 && isDirectName(n.Node) {
		last := &r.refs[from]
		last.Path = append(last.Path, key.Value)
	} else {
		n.Property = r.node(n.Property, false)
	}
	if optional {
		return r.call(n, "$optional", base, n.Property, source)
	}
	return r.call(n, "$get", base, n.Property, source)
}

// isDirectName reports whether n is a name, or fixed names below a name.
func isDirectName(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return true
	case *ast.ChainNode:
		return isDirectName(n.Node)
	case *ast.MemberNode:
		_, fixed := n.Property.(*ast.StringNode)
		return fixed && isDirectName(n.Node)
	case *ast.CallNode: // already rewritten
		callee, ok := n.Callee.(*ast.IdentifierNode)
		return ok && (callee.Value == "$get" || callee.Value == "$optional")
	}
	return false
}

func (r *rewriter) unary(n *ast.UnaryNode) ast.Node {
	source, whole := sourceLiteral(n.Node), sourceLiteral(n)
	n.Node = r.node(n.Node, false)
	if n.Operator == "!" || n.Operator == "not" {
		return r.call(n, "$not", n.Node, source)
	}
	return r.call(n, "$negate", &ast.StringNode{Value: n.Operator}, n.Node, source, whole)
}

func (r *rewriter) binary(n *ast.BinaryNode, optional bool) ast.Node {
	switch n.Operator {
	case "||", "or", "&&", "and":
		return r.choice(n, optional)
	case "??":
		n.Left, n.Right = r.node(n.Left, true), r.node(n.Right, optional)
		return n
	case "==", "!=":
		left, right := isNull(n.Right), isNull(n.Left)
		r.compare(n.Left, n.Right)
		r.compare(n.Right, n.Left)
		n.Left, n.Right = r.node(n.Left, left), r.node(n.Right, right)
		return n
	case "in":
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			r.compare(n.Left, list.Nodes...)
		}
		n.Left, n.Right = r.node(n.Left, false), r.node(n.Right, false)
		return n
	}
	left, right, whole := sourceLiteral(n.Left), sourceLiteral(n.Right), sourceLiteral(n)
	a, b := r.node(n.Left, false), r.node(n.Right, false)
	switch n.Operator {
	case "..":
		return r.call(n, "$range", a, b, left, right)
	case "matches":
		n.Left, n.Right = r.call(n.Left, "$text", a, left), b
		if _, isFixed := b.(*ast.StringNode); !isFixed {
			n.Right = r.call(b, "$text", b, right)
		}
		return n
	}
	return r.call(n, "$operate", &ast.StringNode{Value: n.Operator}, a, b, left, right, whole)
}

// compare notes the comparison of a name with texts.
func (r *rewriter) compare(name ast.Node, with ...ast.Node) {
	if !isDirectName(name) {
		return
	}
	reader := &rewriter{}
	reader.readName(name)
	for _, n := range with {
		if text, ok := n.(*ast.StringNode); ok {
			r.comparisons = append(r.comparisons, Comparison{reader.refs[0], text.Value, location(text)})
		}
	}
}

// readName notes a name with the fixed names below it, and rewrites nothing.
func (r *rewriter) readName(n ast.Node) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		r.refs = append(r.refs, Ref{Root: n.Value, Offset: location(n)})
	case *ast.ChainNode:
		r.readName(n.Node)
	case *ast.MemberNode:
		r.readName(n.Node)
		if key, ok := n.Property.(*ast.StringNode); ok {
			r.refs[0].Path = append(r.refs[0].Path, key.Value)
		}
	}
}

// choice rewrites || and && so that they return an operand: let v = left;
// present(v) ? v : right.
func (r *rewriter) choice(n *ast.BinaryNode, optional bool) ast.Node {
	or := n.Operator == "||" || n.Operator == "or"
	last := lastOperand(n.Left)
	boolean := kindOf(n.Right) == Boolean && !isLiteral(n.Right)
	from := len(r.refs)
	left := r.node(n.Left, true)
	if or && isDirectName(last) && len(r.refs) > from {
		r.choices = append(r.choices, Choice{Left: r.refs[len(r.refs)-1], Boolean: boolean})
	}
	right := r.node(n.Right, optional)
	r.vars++
	v := &ast.IdentifierNode{Value: fmt.Sprintf("$v%d", r.vars)}
	choose := &ast.ConditionalNode{Ternary: true, Cond: r.call(n, "$present", v), Exp1: v, Exp2: right}
	if !or {
		choose.Exp1, choose.Exp2 = right, v
	}
	return withLocation(n, &ast.VariableDeclaratorNode{Name: v.Value, Value: left, Expr: withLocation(n, choose)})
}

// lastOperand returns the operand right before the operator: b in (a || b) ||
// c.
func lastOperand(n ast.Node) ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "||" || b.Operator == "or") {
		return lastOperand(b.Right)
	}
	return n
}

func isLiteral(n ast.Node) bool {
	_, ok := n.(*ast.BoolNode)
	return ok
}

func isNull(n ast.Node) bool {
	if name, ok := n.(*ast.IdentifierNode); ok {
		return name.Value == "null"
	}
	_, ok := n.(*ast.NilNode)
	return ok
}

// builtin rewrites a function with a predicate, so that the number of elements
// is limited.
func (r *rewriter) builtin(n *ast.BuiltinNode) ast.Node {
	if !predicates[n.Name] {
		r.unknownFunction(n, n.Name)
		r.nodes(n.Arguments)
		return n
	}
	for i, argument := range n.Arguments {
		if p, ok := argument.(*ast.PredicateNode); ok {
			p.Node = r.predicate(n.Name, p.Node)
			continue
		}
		source := sourceLiteral(argument)
		n.Arguments[i] = r.call(argument, "$list", r.node(argument, false), source)
	}
	if len(n.Arguments) == 1 { // count(list) has no predicate yet
		n.Arguments = append(n.Arguments, withLocation(n, &ast.PredicateNode{Node: r.predicate(n.Name, withLocation(n, &ast.PointerNode{}))}))
	}
	return n
}

func (r *rewriter) predicate(of string, n ast.Node) ast.Node {
	source := sourceLiteral(n)
	body := r.node(n, false)
	if of != "map" {
		body = r.call(n, "$bool", body, source)
	}
	return withLocation(n, &ast.ConditionalNode{Ternary: true, Cond: r.call(n, "$turn"), Exp1: body, Exp2: withLocation(n, &ast.BoolNode{})})
}

func (r *rewriter) function(n *ast.CallNode) ast.Node {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		r.addFault(n, "write upper(name), not name.upper()", "values have no functions of their own")
		r.nodes(n.Arguments)
		return n
	}
	if callee.Value == "default" {
		return r.defaultCall(n)
	}
	arity, ok := arities[callee.Value]
	if !ok {
		r.unknownFunction(n, callee.Value)
		r.nodes(n.Arguments)
		return n
	}
	if got := len(n.Arguments); got < arity.min || got > arity.max {
		r.addFault(n, "write "+arity.form, "%s has %d arguments", callee.Value, got)
	}
	sources := make([]ast.Node, 0, 1)
	if len(n.Arguments) > 0 {
		sources = append(sources, sourceLiteral(n.Arguments[0]))
	} else {
		sources = append(sources, &ast.StringNode{})
	}
	r.nodes(n.Arguments)
	return r.call(n, callee.Value, append(sources, n.Arguments...)...)
}

// defaultCall rewrites default(a, b) as a ?? b.
func (r *rewriter) defaultCall(n *ast.CallNode) ast.Node {
	if len(n.Arguments) != 2 {
		r.addFault(n, "write default(value, otherwise)", "default has %d arguments", len(n.Arguments))
		r.nodes(n.Arguments)
		return n
	}
	return r.binary(withLocation(n, &ast.BinaryNode{Operator: "??", Left: n.Arguments[0], Right: n.Arguments[1]}), false)
}

func (r *rewriter) unknownFunction(n ast.Node, name string) {
	hint := "there are " + strings.Join(Functions(), ", ")
	if near := Nearest(name, Functions()); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	r.addFault(n, hint, "there is no function %s", name)
}

// call returns a call of a function of functionTable, with the meter as its first argument.
func (r *rewriter) call(n ast.Node, name string, arguments ...ast.Node) ast.Node {
	arguments = slices.Insert(arguments, 0, ast.Node(&ast.IdentifierNode{Value: meterKey}))
	return withLocation(n, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments})
}

// withLocation sets the location of a new node to that of the node that it replaces.
func withLocation[N ast.Node](n ast.Node, made N) N {
	made.SetLocation(n.Location())
	return made
}

// sourceLiteral returns the source of a node as a string literal, for messages.
func sourceLiteral(n ast.Node) ast.Node {
	return &ast.StringNode{Value: shortenSource(n.String())}
}

func shortenSource(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
