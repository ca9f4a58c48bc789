package definition

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// inputReaders returns the part of a message that says who reads the input of a tool, or "" if no person does.
func (l *loader) inputReaders(name string) string {
	switch {
	case name == "shell", slices.Contains(l.known.DelegatedTools, name):
		return "people read the task, and it is stored"
	case name == postQuestion, name == requestApproval:
		return "people read what a question says"
	case name == "notify":
		return "people read the notification"
	case name == "agent":
		return "people and the agent read the task"
	case name == "workflow":
		return "people read the inputs of a run"
	case name == "update_github_issue", strings.HasPrefix(name, "github_"):
		return "people read it at GitHub"
	}
	return ""
}

// checkTool checks that a tool exists.
func (l *loader) checkTool(t *tree, path string) {
	name := t.text()
	if name == "" {
		return
	}
	if _, ok := l.known.Tools[name]; ok || slices.Contains(engineTools, name) {
		return
	}
	names := slices.Concat(engineTools, slices.Collect(maps.Keys(l.known.Tools)))
	server, _, remote := strings.Cut(name, ".")
	switch {
	case l.known.AllowUnknownTools:
		hint := "a server will tell"
		if near := expression.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		l.warn(t, path, hint, "the tool %s is not known here", name)
	case remote && slices.Contains(l.known.UnlistedServers, server):
		l.warn(t, path, "fermata workflow tools refresh "+server+" asks it again", "the tools of %s could not be listed, so nobody knows whether %s is one", server, name)
	default:
		hint := nearestHint(name, names)
		if !strings.HasPrefix(hint, "did") {
			hint = "fermata workflow tools list shows those that there are"
			if remote && slices.ContainsFunc(names, func(known string) bool { return strings.HasPrefix(known, server+".") }) {
				hint = "fermata workflow tools refresh " + server + " asks the server whether it has it now"
			}
		}
		l.addAt(t, path, hint, "there is no tool %s", name)
	}
}

// toolInput reads the input of a step or of an action. It checks the literal parts against the schema of the tool.
func (l *loader) toolInput(t *tree, name, path string, scope scope) Value {
	input := t.get("input")
	before := len(l.problems)
	if s, doc := l.inputSchema(name); s != nil && !input.isUnreadable() {
		f := l.inputChecker(input, []string{path, "input"}, doc)
		if input.mapping() == nil {
			f.root = &tree{value: &mapping{}, line: t.line, column: t.column}
		}
		f.check(s, f.value(f.root))
	}
	l.checkNeeded(t, name, path)
	if input.mapping() == nil {
		return expression.ObjectOf(nil)
	}
	l.checkRules(input, name, path+".input", len(l.problems) == before)
	l.checkChannels(input, name, path+".input")
	if name == workflowTool {
		l.checkStarted(t, input, path+".input")
	}
	return l.value(input, path+".input", scope)
}

// checkNeeded refuses a step if its tool needs an input that the workflow or the step does not have.
func (l *loader) checkNeeded(t *tree, name, path string) {
	reads := l.known.NeededInputs[name]
	for _, in := range reads.RunInputs {
		if l.inputNamed(in) == nil {
			l.addAt(t.get("tool"), path+".tool", "give the workflow the input "+in, "%s reads inputs.%s, and the workflow has no such input", name, in)
		}
	}
	input := t.get("input")
	if input != nil && input.mapping() == nil {
		return
	}
	for _, field := range reads.StepInputs {
		if input.get(field) == nil {
			l.addAt(t.get("tool"), path+".tool", "give the step input: {"+field+": …}", "%s reads input.%s, and the step has no such input", name, field)
		}
	}
}

// channelFields are the inputs of tools that name channels.
var channelFields = map[string][]string{
	postQuestion: {"notifyVia", "channels"}, requestApproval: {"notifyVia", "channels"}, "notify": {"channels"},
}

// checkChannels refuses misspelt names of channels. Other unknown names are warnings, because a channel can be added before
// the first run.
func (l *loader) checkChannels(input *tree, name, path string) {
	if l.known.Channels == nil {
		return
	}
	for _, field := range channelFields[name] {
		for i, one := range input.get(field).list() {
			text, at := one.text(), fmt.Sprintf("%s.%s[%d]", path, field, i)
			const hint = "an admin adds it: fermata channel add"
			switch {
			case text == "" || hasTemplate(one):
			case slices.Contains(l.known.UnusedKinds, text):
				l.warn(one, at, hint, "no channel of the kind %s is switched on yet", text)
			case slices.Contains(l.known.Channels, text):
			case expression.Nearest(text, l.known.Channels) != "":
				l.addAt(one, at, nearestHint(text, l.known.Channels), "there is no channel %s", text)
			default:
				l.warn(one, at, hint, "there is no channel %s yet", text)
			}
		}
	}
}

// hasTemplate reports whether a value is a text with a template, so that its result is known only when the workflow
// runs.
func hasTemplate(t *tree) bool {
	text, ok := t.value.(string)
	return ok && strings.Contains(text, "{{")
}

// toolSchema is the schema of a tool, compiled and as a document.
type toolSchema struct {
	compiled *jsonschema.Schema
	doc      any
}

// inputSchema returns the schema of a tool's input. The second result is the document, or nil for a schema of this
// package.
func (l *loader) inputSchema(name string) (*jsonschema.Schema, any) {
	info, ok := l.known.Tools[name]
	if !ok || len(info.Input) == 0 {
		if slices.Contains(engineTools, name) {
			return ownSchema(name), nil
		}
		return nil, nil
	}
	if s, done := l.schemas[name]; done {
		return s.compiled, s.doc
	}
	var s toolSchema // stays empty if the tool's schema is invalid: the input is then checked at the call
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(info.Input)))
	if err == nil {
		if compiled, err := CompileSchema(doc); err == nil {
			s = toolSchema{compiled, doc}
		}
	}
	l.schemas[name] = s
	return s.compiled, s.doc
}

// schemaFault returns the first cause why a schema is invalid.
func schemaFault(err error) string {
	var wrong *jsonschema.SchemaValidationError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	leaf, ok := wrong.Err.(*jsonschema.ValidationError) //nolint:errorlint // it is nothing else
	for ok && len(leaf.Causes) > 0 {
		leaf = leaf.Causes[0]
	}
	if !ok {
		return wrong.Err.Error()
	}
	return fmt.Sprintf("%s: %s", PathOf(leaf.InstanceLocation), leaf.ErrorKind.LocalizedString(english))
}
