package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// UnmarshalYAML reads one outcome or a list of outcomes.
func (o *Outcomes) UnmarshalYAML(node ast.Node) error {
	for _, one := range entriesOf(node) {
		if _, ok := one.(ast.MapNode); !ok {
			return refuseNode(one, "write {output: …} or {error: …}", "%s has no place here", describeNode(one))
		}
		var outcome Outcome
		if err := yaml.NodeToValue(one, &outcome, yaml.Strict()); err != nil {
			return toNodeError(err)
		}
		outcome.places = placesOf(one)
		if err := outcome.refuseContradiction(); err != nil {
			return err
		}
		*o = append(*o, outcome)
	}
	return nil
}

// UnmarshalYAML reads one reply or a list of replies. A value that is no map is an answer.
func (r *Replies) UnmarshalYAML(node ast.Node) error {
	for _, one := range entriesOf(node) {
		var reply Reply
		var into any = &reply.Answer
		switch one.(type) {
		case ast.MapNode:
			into = &reply
		case *ast.SequenceNode:
		default:
			reply.isPlain = true
		}
		if err := yaml.NodeToValue(one, into, yaml.Strict()); err != nil {
			return toNodeError(err)
		}
		if err := reply.refuseContradiction(placesOf(one)); err != nil {
			return err
		}
		*r = append(*r, reply)
	}
	return nil
}

// place is where a field of a script stands.
type place = *token.Token

// placesOf returns where the fields of an object stand.
func placesOf(node ast.Node) map[string]place {
	places := map[string]place{}
	if m, ok := node.(ast.MapNode); ok {
		for entries := m.MapRange(); entries.Next(); {
			at := entries.Key().GetToken()
			places[at.Value] = at
		}
	}
	return places
}

// hintContradiction says what to do about fields that contradict each other.
const hintContradiction = "write only one of them"

// refuseContradiction returns an error if fields of the outcome contradict each other. The error stands at the last of
// them.
func (o *Outcome) refuseContradiction() error {
	if o.ExitCode != nil && *o.ExitCode < 0 {
		return &nodeError{o.places["exit_code"], negativeExitCode, hintSignal}
	}
	if o.Error == nil {
		return nil
	}
	if output := o.places["output"]; output != nil {
		return &nodeError{later(output, o.places["error"]), "output and error contradict each other: a call that fails has no output", hintContradiction}
	}
	var name string
	switch {
	case o.ExitCode != nil && o.Error.ExitCode != nil:
		name = "exit_code"
	case o.Stdout != "" && o.Error.Stdout != "":
		name = "stdout"
	case o.Stderr != "" && o.Error.Stderr != "":
		name = "stderr"
	default:
		return nil
	}
	return &nodeError{later(o.places[name], o.places["error"]), name + " is in the error and beside it", hintContradiction}
}

const (
	negativeExitCode = "exit_code must not be negative: a command that a signal ends has none"
	hintSignal       = "write error: TEXT"
)

// refuseContradiction returns an error if fields of the reply contradict each other. The error stands at the last of
// them.
func (reply *Reply) refuseContradiction(places map[string]place) error {
	answer, answers := places["answer"], places["answers"]
	if answer != nil && answers != nil {
		return &nodeError{later(answer, answers), "answer and answers contradict each other", hintContradiction}
	}
	if !reply.Timeout {
		return nil
	}
	for _, name := range []string{"answer", "answers", "comment", "action"} {
		if at := places[name]; at != nil {
			return &nodeError{later(at, places["timeout"]), name + " and timeout: true contradict each other: the timeout means that nobody answers", hintContradiction}
		}
	}
	return nil
}

// later returns the place that stands later in the script.
func later(a, b place) place {
	if a.Position.Offset > b.Position.Offset {
		return a
	}
	return b
}

// entriesOf returns the entries of a list. It returns any other value as the only entry.
func entriesOf(node ast.Node) []ast.Node {
	if list, ok := node.(*ast.SequenceNode); ok {
		return list.Values
	}
	return []ast.Node{node}
}

var codePattern = lazyregexp.New(`^[a-z][a-z_]{0,63}$`)

// UnmarshalYAML reads an error, or its message alone.
func (e *ScriptedError) UnmarshalYAML(node ast.Node) error {
	if text, ok := node.(*ast.StringNode); ok {
		e.Message = text.Value
		return nil
	}
	if text, ok := node.(*ast.LiteralNode); ok {
		e.Message = text.Value.Value
		return nil
	}
	m, ok := node.(ast.MapNode)
	if !ok {
		return refuseNode(node, "write error: TEXT, or error: {code: …, message: …}", "error is %s", describeNode(node))
	}
	type plain ScriptedError
	if err := yaml.NodeToValue(node, (*plain)(e), yaml.Strict()); err != nil {
		return toNodeError(err)
	}
	if e.ExitCode != nil && *e.ExitCode < 0 {
		return &nodeError{placesOf(node)["exit_code"], negativeExitCode, hintSignal}
	}
	for entries := m.MapRange(); entries.Next(); {
		if entries.Key().String() == "code" && !codePattern().MatchString(e.Code) {
			return refuseNode(entries.Value(), "write the code that the server gives, such as child_failed, step_timeout or not_found", "code must be a word in lower case, and is %q", e.Code)
		}
	}
	return nil
}

// nodeError says what is wrong with a part of a script, and what to write.
type nodeError struct {
	at            *token.Token
	message, hint string
}

func refuseNode(node ast.Node, hint, format string, args ...any) error {
	at := node.GetToken()
	if m, ok := node.(*ast.MappingValueNode); ok {
		at = m.Key.GetToken()
	}
	return &nodeError{at, fmt.Sprintf(format, args...), hint}
}

func (e *nodeError) Error() string { return e.message }

// explainScriptError returns an error of the parser in the words of a person who writes a script, with the place.
func explainScriptError(err error) error {
	e := toNodeError(err)
	message := e.message
	if e.at != nil && e.at.Position != nil {
		message = fmt.Sprintf("[%d:%d] %s", e.at.Position.Line, e.at.Position.Column, message)
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "the script: %s", message).
		WithHint("%s", cmp.Or(e.hint, "docs/reference/workflow-runs.md says what it may hold"))
}

// toNodeError returns an error of the parser as the error of a part of the script. A type that reads its own value calls
// it at once, because the parser would put the name of the outer field into the error.
func toNodeError(err error) *nodeError {
	var known *nodeError
	var wrongType *yaml.TypeError
	var unknown *yaml.UnknownFieldError
	var unexpected *yaml.UnexpectedNodeTypeError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &wrongType):
		return explainType(wrongType)
	case errors.As(err, &unknown):
		name := strings.Trim(strings.TrimPrefix(unknown.Message, "unknown field "), `"`)
		e := &nodeError{at: unknown.Token, message: fmt.Sprintf("there is no field %s here", name)}
		if near := expression.Nearest(name, scriptFields()); near != "" {
			e.hint = "did you mean " + near + "?"
		}
		return e
	case errors.As(err, &unexpected):
		return &nodeError{unexpected.Token, "this must be an object, and is " + nodeWords[unexpected.Actual], "write names with their values, as in tools: {build: {output: …}}"}
	}
	return &nodeError{message: yaml.FormatError(err, false, true)}
}

// explainType returns the error for a value of another type.
func explainType(wrong *yaml.TypeError) *nodeError {
	want, got := goTypeWords(wrong.DstType), goTypeWords(wrong.SrcType)
	if wrong.StructFieldName == nil {
		return &nodeError{at: wrong.Token, message: fmt.Sprintf("this must be %s, and is %s", want, got)}
	}
	name := fieldName(*wrong.StructFieldName)
	return &nodeError{wrong.Token, fmt.Sprintf("%s must be %s, and is %s", name, want, got), fmt.Sprintf("write %s: %s", name, exampleOf[want])}
}

// fieldName returns the name in a script of a field of [Script], which is given as Type.Field.
func fieldName(goName string) string {
	goName = goName[strings.LastIndexByte(goName, '.')+1:]
	for _, of := range scriptTypes {
		if f, ok := of.FieldByName(goName); ok {
			return f.Tag.Get("yaml")
		}
	}
	return goName
}

var scriptTypes = []reflect.Type{
	reflect.TypeFor[Script](), reflect.TypeFor[Outcome](), reflect.TypeFor[ScriptedError](), reflect.TypeFor[Reply](), reflect.TypeFor[Expectation](),
}

// scriptFields returns the names of all fields of a script.
func scriptFields() []string {
	var names []string
	for _, of := range scriptTypes {
		for f := range of.Fields() {
			if name := f.Tag.Get("yaml"); name != "" {
				names = append(names, name)
			}
		}
	}
	return fermata.SortUnique(names)
}

// goTypeWords names the values of a type of Go.
func goTypeWords(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if words := goKindWords[t.Kind()]; words != "" {
		return words
	}
	return "a number"
}

var goKindWords = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object",
}

// exampleOf shows a value of each type.
var exampleOf = map[string]string{"a text": "TEXT", "true or false": "true", "a whole number": "1", "a list": "[…]", "an object": "{…}", "a number": "1"}

// nodeWords name the kinds of values in YAML.
var nodeWords = map[ast.NodeType]string{
	ast.NullType: "empty", ast.BoolType: "true or false", ast.IntegerType: "a number", ast.FloatType: "a number", ast.StringType: "a text", ast.LiteralType: "a text",
	ast.MappingType: "an object", ast.MappingValueType: "an object", ast.SequenceType: "a list",
}

// describeNode names the kind of a value, for a message.
func describeNode(node ast.Node) string {
	if words := nodeWords[node.Type()]; words != "" {
		return words
	}
	return "something else"
}
