package engine

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata"
)

// recordAssignments records the variables that a part of a line sets without a command.
func (r *shellReader) recordAssignments(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		r.assign(n)
	case *syntax.DeclClause:
		r.declare(n)
	case *syntax.WordIter:
		for _, item := range n.Items {
			r.setValues(n.Name.Value, r.readings(item)...)
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && n.Exp.Word != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			r.setValues(n.Param.Value, r.readings(n.Exp.Word)...)
		}
	case *syntax.BinaryArithm:
		if word, ok := n.X.(*syntax.Word); ok && n.Op != syntax.Eql && strings.HasSuffix(n.Op.String(), "=") {
			r.setValues(word.Lit(), "*")
		}
	case *syntax.CoprocClause:
		if n.Name != nil {
			r.setValues(n.Name.Lit(), "*")
		}
	}
}

// setValues records values of a variable that the line sets.
func (r *shellReader) setValues(name string, values ...string) {
	r.addValues(name, values...)
	for _, value := range values {
		r.settings = append(r.settings, name+"="+value)
		if slices.Contains([]string{"PROMPT_COMMAND", "LESSOPEN", "LESSCLOSE"}, name) {
			r.addHidden([]string{"", value})
		}
	}
}

// assign records an assignment.
func (r *shellReader) assign(a *syntax.Assign) {
	if a.Array != nil {
		words := []string{"array"}
		for _, element := range a.Array.Elems {
			if element.Value != nil {
				words = append(words, r.textsOf(element.Value)...)
			}
		}
		r.addHidden(words)
	}
	if a.Value == nil {
		return
	}
	values := r.readings(a.Value)
	if a.Name == nil {
		// A word after export may be a whole assignment.
		for _, text := range values {
			if name, value, isSetting := strings.Cut(text, "="); isSetting || isUnknown(text) {
				r.setValues(name, value+strings.Repeat(fermata.UnknownText, 1-min(1, len(value))))
			}
		}
		return
	}
	name := a.Name.Value
	if a.Append {
		for _, before := range slices.Clone(r.values[name]) {
			for _, value := range values {
				r.addValues(name, before+value)
			}
		}
	}
	r.setValues(name, values...)
}

// declare records variables that have a second name by declare -n. Their values are then unknown.
func (r *shellReader) declare(n *syntax.DeclClause) {
	isReference := slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool {
		return a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "n")
	})
	if !isReference || n.Variant.Value == "export" {
		return
	}
	for _, a := range n.Args {
		if a.Name != nil && a.Value != nil {
			for _, name := range r.readings(a.Value) {
				r.setValues(name, fermata.UnknownText)
			}
		}
	}
}

// settingCommands are commands that set the variables in their words, from their input or in another way.
var settingCommands = []string{"read", "mapfile", "readarray", "getopts", "wait", "set", "setenv", "export", "declare", "typeset", "local", "readonly"}

// setFromInput records the variables that a command such as read or export sets. A variable without a value in the
// words gets an unknown value, and the inputs as values.
func (r *shellReader) setFromInput(words []string) {
	for _, word := range words {
		if name, value, isSetting := strings.Cut(word, "="); isSetting {
			r.setValues(name, value)
		} else if !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, " ./") {
			r.setValues(word, fermata.UnknownText)
			r.inputVariables = append(r.inputVariables, word)
		}
	}
}

// maxPositional is the largest number of positional parameters that are read.
const maxPositional = 9

// setPositional records the words of a function, of set or of a script as $1, $2 and so on.
func (r *shellReader) setPositional(args []string) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	for i, word := range args[:min(len(args), maxPositional)] {
		r.addValues(strconv.Itoa(i+1), word)
		for at := range i {
			if r.shifts {
				r.addValues(strconv.Itoa(at+1), word)
			}
		}
	}
	all := strings.Join(args, " ")
	r.addValues("@", all)
	r.addValues("*", all)
}

// recordPipe records that a command reads the output of the echo or printf before it in a pipe.
func (r *shellReader) recordPipe(n *syntax.BinaryCmd) {
	if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
		return
	}
	from, to := lastCall(n.X), firstCall(n.Y)
	if from != nil && to != nil && len(from.Args) > 0 && slices.Contains([]string{"echo", "printf"}, from.Args[0].Lit()) {
		r.knownInputs[to] = true
	}
}

// recordHereString records that the input of a command is a here-string or here-document of the line.
func (r *shellReader) recordHereString(n *syntax.Stmt) {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if ok && slices.ContainsFunc(n.Redirs, func(redirect *syntax.Redirect) bool { return redirect.Op == syntax.WordHdoc || redirect.Hdoc != nil }) {
		r.knownInputs[call] = true
	}
}

func firstCall(n *syntax.Stmt) *syntax.CallExpr {
	for {
		inner, ok := n.Cmd.(*syntax.BinaryCmd)
		if !ok {
			call, _ := n.Cmd.(*syntax.CallExpr)
			return call
		}
		n = inner.X
	}
}

func lastCall(n *syntax.Stmt) *syntax.CallExpr {
	for {
		inner, ok := n.Cmd.(*syntax.BinaryCmd)
		if !ok {
			call, _ := n.Cmd.(*syntax.CallExpr)
			return call
		}
		n = inner.Y
	}
}
