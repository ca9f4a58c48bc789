package definition

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// pendingStatus is the status of a step that has not begun.
const pendingStatus = "pending"

// foretell reports what is constant in an expression and wrong in every run.
func (l *loader) foretell(u usage) {
	if l.known.WasChecked {
		return
	}
	for _, f := range u.ConstantFaults() {
		f.Offset += u.offset
		l.reportFault(u.at, u.path, f)
	}
	for _, c := range u.Comparisons() {
		values := valuesOf(c.Name)
		if values == nil || slices.Contains(values, c.Text) {
			continue
		}
		name := strings.Join(append([]string{c.Name.Root}, c.Name.Path...), ".")
		hint := "there are " + strings.Join(values, ", ")
		if near := expression.Nearest(c.Text, values); near != "" {
			hint = "did you mean " + near + "?"
		}
		l.addAt(l.positionInside(u.at, u.offset+c.Offset), u.path, hint, "%s is never %q", name, c.Text)
	}
}

// valuesOf returns the texts that a name can have, or nil if there are others.
func valuesOf(name expression.Ref) []string {
	var values []string
	switch path := name.Path; {
	case name.Root == "steps" && len(path) == 2 && path[1] == "status":
		values = []string{pendingStatus}
		for _, state := range fermata.StepStates {
			values = append(values, string(state))
		}
	case name.Root == FailureName && len(path) == 1 && path[0] == "state":
		values = []string{string(fermata.TaskFailed), string(fermata.TaskSkipped)}
	case name.Root == "trigger" && len(path) == 1 && path[0] == "type":
		for kind := range triggerFields {
			values = append(values, kind)
		}
		slices.Sort(values)
	}
	return values
}

// triggerFields holds the names below trigger for each type of trigger, besides type.
var triggerFields = map[string][]string{
	LabelAdded:                      {"repository", "issue", "label", "actor", "title", "url", "delivery"},
	Deployment:                      {"repository", "environment", "ref", "sha", "run", "deployment", "event", "actor", "url"},
	Schedule:                        {"at"},
	Webhook:                         {"body", "id"},
	Event:                           {"event", "seq", "data", "task_id", "question_id", "actor", "at", "workflow", "inputs", "issue", "repository"},
	Manual:                          {"by"},
	string(fermata.TriggerWorkflow): {"run", "workflow", "step"},
}

// checkTriggerField reports a name below trigger that no trigger has. In the entry of a trigger it warns of one that only
// other types have, because the entry may have been copied from there.
func (l *loader) checkTriggerField(u usage, at *tree, name string) {
	if l.known.WasChecked || name == "" || name == "type" {
		return
	}
	var all []string
	for _, names := range triggerFields {
		all = append(all, names...)
	}
	all = fermata.SortUnique(append(all, "type"))
	own := triggerFields[u.scope.triggerType]
	switch {
	case !slices.Contains(all, name):
		near := all
		if own != nil {
			near = append(slices.Clone(own), "type")
		}
		l.addAt(at, u.path, nearestHint(name, near), "trigger has no %s", name)
	case own != nil && !slices.Contains(own, name):
		l.warn(at, u.path, "there are "+strings.Join(append([]string{"type"}, own...), ", "), "a trigger of the type %s has no %s", u.scope.triggerType, name)
	}
}

// commandFields are the names below the output of a command that reports no result of its own.
var commandFields = []string{"exit_code", "output", "left_out"}

// checkCommandField warns of a name that the output of a command has only if the command reports it.
func (l *loader) checkCommandField(u usage, at *tree, step int, name string) {
	s := &l.w.Steps[step]
	if l.known.WasChecked || s.Tool != "shell" || s.Schema != nil || s.Foreach != nil || slices.Contains(commandFields, name) {
		return
	}
	hint := nearestHint(name, commandFields)
	if !strings.HasPrefix(hint, "did") {
		hint = "if the command reports a result with this name, describe it by a schema"
	}
	l.warn(at, u.path, hint, "the output of a command has no %s, unless the command reports it", name)
}

// checkRules reports the rules of a tool that the literal values of an input break, beside the schema. It leaves out fields
// that do not fit the schema, and, unless the input fits it, fields that are missing: these were reported already.
func (l *loader) checkRules(input *tree, name, path string, fits bool) {
	check := l.known.Tools[name].Check
	values, ok := input.plainValue().(map[string]any)
	if check == nil || !ok || l.known.WasChecked {
		return
	}
	if !fits {
		for _, field := range l.wrongFields(path) {
			delete(values, field)
		}
	}
	refusal, ok := check(values).(*fermata.Error) //nolint:errorlint // Check returns it as it is
	if !ok {
		return
	}
	for _, p := range refusal.Problems {
		pointer := strings.Split(p.Field, ".")
		if _, isGiven := values[pointer[0]]; !fits && !isGiven {
			continue
		}
		at, isUnreadable := input.nodeAt(pointer)
		if isUnreadable || hasTemplate(at) {
			continue
		}
		l.addAt(at, path+"."+p.Field, refusal.Hint, "%s", p.Message)
	}
}
