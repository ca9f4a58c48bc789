package expression

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/fermata-hq/fermata"
)

// Limits of one expression and of one evaluation.
const (
	MaxLength     = 4000    // characters of an expression
	maxNodes      = 500     // parts of an expression
	maxIterations = 100_000 // elements that all, any, filter, map and count look at
	maxMemory     = 100_000 // elements that lists of one evaluation hold
	maxText       = 4 << 20 // bytes of text that one evaluation builds
)

// NowKey is the name in an [Env] of the time.Time that now() returns. Without
// it, now() returns the system time.
const NowKey = "$now"

const meterKey = "$meter"

// Env holds the root names that an expression can read. A missing name is null.
// The values have the types that [DecodeJSON] returns.
type Env map[string]any

// Expression is a parsed expression. It is safe for concurrent use.
type Expression struct {
	text string
	// program is nil if the expression has faults.
	program     *vm.Program
	refs        []Ref
	choices     []Choice
	comparisons []Comparison
	constants   []constant
	rangeLength int
	kind        Kind
}

// Ref is a root name that an expression uses.
type Ref struct {
	Root string
	// Path holds the fixed names below the root: output and total in
	// steps.sum.output.total. It ends before a computed name.
	Path []string
	// Offset is the position of the root in the text, in characters from 0.
	Offset int
}

// Choice is a use of ||.
type Choice struct {
	// Left is the operand before ||, which is a name.
	Left Ref
	// Boolean says that the right side is certainly a boolean.
	Boolean bool
}

// Comparison is a use of == or != between a name and a text, or of in between a name and a list of texts.
type Comparison struct {
	Name Ref
	Text string
	// Offset is the position of the text, in characters from 0.
	Offset int
}

// Fault is one problem of an expression.
type Fault struct {
	// Offset is the position in the text, in characters from 0.
	Offset        int
	Message, Hint string
}

// Parse parses an expression. It does not check names: the caller does, with [Expression.Refs]. An expression with faults
// cannot be evaluated. It still has the names that could be read.
func Parse(text string) (*Expression, []Fault) {
	e := &Expression{text: text}
	if n := len([]rune(text)); n > MaxLength {
		return e, []Fault{{Message: "the expression is too long", Hint: "let a step compute it, or split it over several"}}
	}
	if strings.TrimSpace(text) == "" {
		return e, []Fault{{Message: "the expression is empty", Hint: `write one, such as "analysis.confidence < 80"`}}
	}
	tree, fault := parse(text)
	if fault != nil {
		return e, []Fault{*fault}
	}
	e.kind, e.constants, e.rangeLength = kindOf(tree.Node), constantsIn(tree.Node), rangeLengthOf(tree.Node)
	r := &rewriter{}
	tree.Node = r.node(tree.Node, false)
	e.refs, e.choices, e.comparisons = r.refs, r.choices, r.comparisons
	if len(r.faults) > 0 {
		return e, r.faults
	}
	program, err := build(tree)
	if err != nil {
		return e, []Fault{faultOf(text, err)}
	}
	e.program = program
	return e, nil
}

func parse(text string) (tree *parser.Tree, fault *Fault) {
	defer func() {
		if r := recover(); r != nil {
			tree, fault = nil, &Fault{Message: "the expression cannot be read", Hint: "simplify it"}
		}
	}()
	tree, err := parser.ParseWithConfig(text, newConfig())
	if err != nil {
		f := faultOf(text, err)
		return nil, &f
	}
	return tree, nil
}

func build(tree *parser.Tree) (program *vm.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fermata.Errorf(fermata.CodeInvalidRequest, "the expression cannot be compiled")
		}
	}()
	c := newConfig()
	if _, err := checker.Check(tree, c); err != nil {
		return nil, err
	}
	return compiler.Compile(tree, c)
}

// newConfig returns the settings of the parser and the compiler. Its maps are
// shared and must not be changed. Every call returns a new config, because the
// cache in it is not safe for concurrent use.
func newConfig() *conf.Config {
	return &conf.Config{
		ShortCircuit: true, MaxNodes: maxNodes,
		Functions: functionTable, Builtins: predicateTable, Disabled: disabledFunctions,
	}
}

// predicateTable holds the functions of the library that take a predicate.
// disabledFunctions holds all its other functions, which expressions cannot
// call.
var predicateTable, disabledFunctions = func() (conf.FunctionsTable, map[string]bool) {
	used, off := conf.FunctionsTable{}, map[string]bool{}
	for _, f := range builtin.Builtins {
		if predicates[f.Name] {
			used[f.Name] = f
		} else {
			off[f.Name] = true
		}
	}
	return used, off
}()

func faultOf(text string, err error) Fault {
	f := Fault{Message: err.Error()}
	if at, ok := errors.AsType[*file.Error](err); ok {
		f.Offset, f.Message = at.From, at.Message
	}
	f.Message, f.Hint = explain(text, f.Message)
	return f
}

// String returns the text of the expression as it was written.
func (e *Expression) String() string { return e.text }

// Refs returns the root names that the expression uses.
func (e *Expression) Refs() []Ref { return slices.Clone(e.refs) }

// Choices returns the uses of || that have a name on the left.
func (e *Expression) Choices() []Choice { return slices.Clone(e.choices) }

// Comparisons returns the comparisons of names with texts.
func (e *Expression) Comparisons() []Comparison { return slices.Clone(e.comparisons) }

// Kind returns the kind of the result, or [Unknown] if it is not certain.
func (e *Expression) Kind() Kind { return e.kind }

// Eval evaluates the expression. The result is null, a boolean, an int64, a
// float64, a string, a []any or a map[string]any, and shares nothing with env.
// Times become text in RFC 3339. Durations become text such as 1h30m0s.
func (e *Expression) Eval(env Env) (any, error) {
	m := newMeter(env)
	v, err := e.run(env, m)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Bool evaluates a condition. A result that is no boolean is an error.
func (e *Expression) Bool(env Env) (bool, error) {
	v, err := e.run(env, newMeter(env))
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fermata.Errorf(fermata.CodeInvalidRequest, "%s is %s, and a condition must be true or false", e.text, describe(v)).
			WithHint("compare it with something, such as x == \"yes\" or x != null")
	}
	return b, nil
}

func (e *Expression) run(env Env, m *meter) (any, error) {
	if e.program == nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s has a fault, and cannot be evaluated", e.text)
	}
	inner := make(map[string]any, len(env)+1)
	maps.Copy(inner, env)
	inner[meterKey] = m
	machine := vm.VM{MemoryBudget: m.memory}
	v, err := machine.Run(e.program, inner)
	if err == nil {
		v, err = m.plainValue(v, 0)
	}
	if err != nil {
		return nil, e.failure(err)
	}
	return v, nil
}

// failure returns the error of an evaluation with the text of the expression.
// Errors of this package explain themselves and stay as they are.
func (e *Expression) failure(err error) error {
	if own, ok := errors.AsType[*fermata.Error](err); ok {
		return own
	}
	message := err.Error()
	if at, ok := errors.AsType[*file.Error](err); ok {
		message = at.Message
	}
	message, hint := explain(e.text, message)
	failed := fermata.Errorf(fermata.CodeInvalidRequest, "%s: %s", e.text, message)
	if hint != "" {
		failed = failed.WithHint("%s", hint)
	}
	return failed
}

// asOwn returns an error of this package.
func asOwn(err error) (*fermata.Error, bool) { return errors.AsType[*fermata.Error](err) }

// meter limits the work of one evaluation.
type meter struct {
	iterations, bytes int
	// elements is the number of elements that ranges may still have. memory limits the lists that the library builds.
	elements int
	memory   uint
	now      time.Time
}

func newMeter(env Env) *meter {
	m := &meter{iterations: maxIterations, bytes: maxText, elements: maxMemory, memory: maxMemory}
	m.now, _ = env[NowKey].(time.Time)
	return m
}

func (m *meter) spendIteration() error {
	if m.iterations--; m.iterations < 0 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the expression looks at more than %d elements", maxIterations).
			WithHint("let a step do it")
	}
	return nil
}

func (m *meter) spendBytes(n int) error {
	if m.bytes -= n; m.bytes < 0 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the expression builds more than %d MiB of text", maxText>>20).
			WithHint("let a step do it")
	}
	return nil
}

func location(n ast.Node) int { return n.Location().From }
