package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

func itoa(i int) string { return strconv.Itoa(i) }

var questionNames = []string{"id", "answer", "answers", "option", "comment", "by", "at", "source", "decision", "action", "votes"}

// QuestionNames returns the names below the output of a question and below pendingQuestion.
func QuestionNames() []string { return slices.Clone(questionNames) }

// fieldNames lists the names that may follow a root of an expression in every workflow, such as run.id. The schema provides
// them to editors.
type fieldNames struct {
	Run     []string `json:"run"`
	Step    []string `json:"step"`
	Error   []string `json:"error"`
	Failure []string `json:"failure"`
}

var schemaNames = sync.OnceValue(func() fieldNames {
	var schema struct {
		Names fieldNames `json:"x-names"`
	}
	if err := json.Unmarshal(workflowSchema, &schema); err != nil {
		panic(fmt.Sprintf("the schema of a definition: %s", err))
	}
	return schema.Names
})

// checkExpressions checks the names in all expressions. It runs last, because an expression may refer to any part of
// the file.
func (l *loader) checkExpressions() {
	for _, u := range l.usages {
		if l.isFull() {
			return
		}
		for _, ref := range u.Refs() {
			l.checkRef(u, ref)
		}
		l.foretell(u)
		for _, c := range u.Choices() {
			if !c.Boolean && l.isYesNo(c.Left) {
				name := strings.Join(slices.Concat([]string{c.Left.Root}, c.Left.Path), ".")
				l.warn(l.positionInside(u.at, u.offset+c.Left.Offset), u.path, "write ?? instead of ||", "%s is a yes/no answer: a no would become the right side of ||", name)
			}
		}
	}
}

func (l *loader) checkRef(u usage, ref expression.Ref) {
	at := l.positionInside(u.at, u.offset+ref.Offset)
	if !l.checkRoot(u, ref, at) {
		return
	}
	first, second := "", ""
	if len(ref.Path) > 0 {
		first = ref.Path[0]
	}
	if len(ref.Path) > 1 {
		second = ref.Path[1]
	}
	unknown := func(depth int, names []string) {
		if len(ref.Path) > depth && !slices.Contains(names, ref.Path[depth]) {
			whole := strings.Join(slices.Concat([]string{ref.Root}, ref.Path[:depth]), ".")
			l.addAt(at, u.path, nearestHint(ref.Path[depth], names), "%s has no %s", whole, ref.Path[depth])
		}
	}
	switch ref.Root {
	case "inputs":
		if first != "" && l.inputNamed(first) == nil {
			l.addAt(at, u.path, nearestHint(first, l.inputNames()), "there is no input %s", first)
		}
	case "trigger":
		l.checkTriggerField(u, at, first)
	case "run":
		unknown(0, schemaNames().Run)
	case "pendingQuestion":
		unknown(0, questionNames)
	case FailureName:
		unknown(0, schemaNames().Failure)
	case "secrets":
		l.checkSecret(u, at, first)
	case "steps":
		l.checkStepRef(u, ref, at)
		i, ok := l.ids[first]
		if !ok {
			return
		}
		unknown(1, schemaNames().Step)
		switch {
		case second == "error":
			unknown(2, schemaNames().Error)
		case second == "branch" && !l.w.Steps[i].OwnCopy:
			l.addAt(at, u.path, "add working_copy: own to the step "+first, "steps.%s.branch is always null: the step %s has no working copy of its own", first, first)
		case second == "output" && len(ref.Path) > 2:
			l.checkProperty(u, at, i, ref.Path[2])
		}
	default:
		if i, ok := l.outputs[ref.Root]; ok {
			l.reportEarly(u, at, i, ref.Root)
			if first != "" {
				l.checkProperty(u, at, i, first)
			}
		}
	}
}

// checkRoot reports whether a root name is known at its place. If not, it adds the problem.
func (l *loader) checkRoot(u usage, ref expression.Ref, at *tree) bool {
	root := ref.Root
	if l.isRoot(u.scope, root) {
		return true
	}
	all := l.roots(u.scope)
	message, hint := fmt.Sprintf("%s is not known", root), nearestHint(root, all)
	_, isStep := l.ids[root]
	_, isOutput := l.outputs[root]
	switch {
	case root == "item" || root == "index":
		message, hint = root+" can be used only in the input of a step with foreach", ""
	case root == "pendingQuestion":
		message, hint = "pendingQuestion can be used only in inject", "inject what you need of it under a name"
	case len(u.scope.onlyRoots) > 0 && (isOutput || l.injected[root] != nil || slices.Contains(reservedNames, root)):
		message, hint = fmt.Sprintf("%s cannot be used in %s", root, u.scope.description), "use "+strings.Join(u.scope.onlyRoots, " or ")
	case isStep:
		message, hint = fmt.Sprintf("%s is a step, not a value", root), fmt.Sprintf("write steps.%s.output, or give the step output: %s", root, root)
	}
	l.addAt(at, u.path, hint, "%s", message)
	return false
}

func (l *loader) isRoot(s scope, name string) bool {
	if slices.Contains(s.fixedRoots(), name) {
		return true
	}
	_, isOutput := l.outputs[name]
	return len(s.onlyRoots) == 0 && (isOutput || l.injected[name] != nil)
}

// fixedRoots returns the root names that are known at a place in every workflow.
func (s scope) fixedRoots() []string {
	if len(s.onlyRoots) > 0 {
		return s.onlyRoots
	}
	all := []string{"inputs", "trigger", "run", "steps", "secrets"}
	if s.hasItems {
		all = append(all, "item", "index")
	}
	if s.hasPendingQuestion {
		all = append(all, "pendingQuestion")
	}
	if s.hasFailure {
		all = append(all, FailureName)
	}
	return all
}

// roots returns all root names that are known at a place.
func (l *loader) roots(s scope) []string {
	all := s.fixedRoots()
	if len(s.onlyRoots) > 0 {
		return all
	}
	all = slices.AppendSeq(all, maps.Keys(l.outputs))
	return slices.AppendSeq(all, maps.Keys(l.injected))
}

func (l *loader) checkSecret(u usage, at *tree, name string) {
	switch {
	case name == "":
		l.addAt(at, u.path, "write secrets.NAME", "a secret is used by its name")
	case u.condition || !u.scope.allowsSecrets:
		l.addAt(at, u.path, "use it in the input of the step that needs it", "a secret may not be used here: this text is stored and shown")
	case u.scope.readers != "":
		l.addAt(at, u.path, "hand it to http or to a tool of an MCP server; a command finds what it needs in the environment of its worker", "a secret may not be used here: %s", u.scope.readers)
	default:
		l.secrets[name] = true
		if l.known.CheckSecretUse == nil {
			return
		}
		if refused := l.known.CheckSecretUse(l.w.Project, name); refused != nil {
			l.addAt(at, u.path, refused.Hint, "%s", refused)
		}
	}
}

func (l *loader) checkStepRef(u usage, ref expression.Ref, at *tree) {
	if len(ref.Path) == 0 {
		l.addAt(at, u.path, "write steps.<id>.output", "steps is followed by the id of a step")
		return
	}
	i, ok := l.ids[ref.Path[0]]
	if !ok {
		l.addAt(at, u.path, nearestHint(ref.Path[0], l.stepNames()), "there is no step %s", ref.Path[0])
		return
	}
	l.reportEarly(u, at, i, "steps."+ref.Path[0])
}

// reportEarly reports a reference to a step that may not have run yet: the step comes later or runs in parallel, and no
// goto leads back from it.
func (l *loader) reportEarly(u usage, at *tree, step int, name string) {
	if u.scope.step < 0 || l.w.comesAfter(step, u.scope.step) {
		return
	}
	for _, j := range l.backJumps {
		if l.w.reaches(step, j.from) && l.w.reaches(j.to, u.scope.step) {
			return
		}
	}
	what, hint := fmt.Sprintf("%s comes later, on line %d: it is always null here", name, l.w.Steps[step].Line), "move the step up, or go back with goto"
	switch {
	case step == u.scope.step:
		what = name + " is the step itself: it is always null here"
	case !l.w.reaches(u.scope.step, step):
		what, hint = fmt.Sprintf("%s runs beside the step %s, and may not have ended here", name, l.w.Steps[u.scope.step].ID), "add "+l.w.Steps[step].ID+" to needs"
	}
	l.addAt(at, u.path, hint, "%s", what)
}

// checkProperty checks a name against the schema of a step's output.
func (l *loader) checkProperty(u usage, at *tree, step int, name string) {
	properties, closed := l.outputProperties(step)
	if _, ok := properties[name]; ok || !closed {
		l.checkCommandField(u, at, step, name)
		return
	}
	names := slices.Sorted(maps.Keys(properties))
	l.addAt(at, u.path, nearestHint(name, names), "the output of %s has no %s", l.w.Steps[step].ID, name)
}

type property struct {
	Type any `json:"type"`
}

// outputProperties returns the properties in the schema of a step's output, and whether the schema allows no others.
func (l *loader) outputProperties(step int) (map[string]property, bool) {
	s := &l.w.Steps[step]
	source := s.Schema
	if source == nil && s.Foreach == nil && !l.known.WasChecked && (s.Tool == postQuestion || s.Tool == requestApproval) {
		properties := map[string]property{}
		for _, name := range questionNames {
			properties[name] = property{}
		}
		return properties, true
	}
	if source == nil {
		source = l.known.Tools[s.Tool].Output
	}
	var o struct {
		Properties map[string]property `json:"properties"`
		Additional any                 `json:"additionalProperties"`
	}
	if len(source) == 0 || s.Foreach != nil || json.Unmarshal(source, &o) != nil {
		return nil, false
	}
	return o.Properties, o.Additional == false
}

// isYesNo reports whether a name is a boolean. With ||, a "no" would count as absent.
func (l *loader) isYesNo(ref expression.Ref) bool {
	path := ref.Path
	switch root := ref.Root; {
	case root == "inputs" && len(path) == 1:
		in := l.inputNamed(path[0])
		return in != nil && in.Type == "boolean"
	case root == "steps" && len(path) == 2 && path[1] == "answer":
		i, ok := l.ids[path[0]]
		return ok && isYesNoQuestion(&l.w.Steps[i])
	case root == "steps" && len(path) == 3 && path[1] == "output":
		i, ok := l.ids[path[0]]
		return ok && l.isBooleanProperty(i, path[2])
	case root == "pendingQuestion" && len(path) == 1 && path[0] == "answer":
		return slices.ContainsFunc(l.w.Steps, func(s Step) bool { return s.Suspend && isYesNoQuestion(&s) })
	case len(path) == 1:
		i, ok := l.outputs[root]
		return ok && l.isBooleanProperty(i, path[0])
	case len(path) == 0:
		return l.injectsYesNo(root)
	}
	return false
}

func (l *loader) isBooleanProperty(step int, name string) bool {
	properties, _ := l.outputProperties(step)
	return properties[name].Type == "boolean"
}

// injectsYesNo reports whether a name is injected from the answer to a yes-or-no question.
func (l *loader) injectsYesNo(name string) bool {
	for i := range l.w.Steps {
		s := &l.w.Steps[i]
		resume := l.w.Resume(s)
		if !s.Suspend || !isYesNoQuestion(s) || resume == nil {
			continue
		}
		for _, named := range resume.Inject {
			located := named.Value.LocatedExpressions()
			if named.Name == name && len(located) == 1 && located[0].Whole && isAnswer(located[0].Refs()) {
				return true
			}
		}
	}
	return false
}

func isAnswer(refs []expression.Ref) bool {
	return len(refs) == 1 && refs[0].Root == "pendingQuestion" && slices.Equal(refs[0].Path, []string{"answer"})
}

func isYesNoQuestion(s *Step) bool {
	if s.Tool == requestApproval {
		return true
	}
	for _, key := range []string{"type", "responseType", "response_type"} {
		v, _ := s.Input.Field(key)
		if lit, ok := v.Literal(); ok && (lit == "boolean" || lit == "approval") {
			return true
		}
	}
	return false
}
