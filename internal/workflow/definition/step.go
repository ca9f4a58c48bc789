package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// FailureName is the root name under which expressions read why a run failed; it is null while the run has not failed.
// It is reserved in definitions with steps that can read it.
const FailureName = "failure"

// reservedNames are the root names of expressions and the keywords of the expression language.
var reservedNames = []string{
	"inputs", "trigger", "run", "steps", "item", "index", "secrets", "pendingQuestion",
	"true", "false", "null", "nil", "not", "and", "or", "in", "let", "if", "else", "contains", "startsWith", "endsWith", "matches",
}

// reservedIDs are names that steps cannot have, because paths and graphs use them.
var reservedIDs = append([]string{"answer", "start", "end"}, reservedNames...)

// readNames reads the names that steps and answers define, so that expressions anywhere in the file can be checked against
// all of them.
func (l *loader) readNames() {
	for _, phase := range phases {
		for i, t := range l.root.get(string(phase)).list() {
			if t.mapping() == nil {
				continue
			}
			l.steps, l.paths = append(l.steps, t), append(l.paths, fmt.Sprintf("%s[%d]", phase, i))
			l.w.Steps = append(l.w.Steps, Step{ID: t.get("id").text(), Phase: phase, Tool: t.get("tool").text(), Output: t.get("output").text(), Line: t.line, source: t.plainValue()})
		}
	}
	names := reservedNames
	if l.w.hasLaterPhases() {
		names = append([]string{FailureName}, names...)
	}
	for n, t := range l.steps {
		l.defineName(&l.ids, "step", t.get("id"), n, l.paths[n]+".id", reservedIDs)
		l.defineName(&l.outputs, "output", t.get("output"), n, l.paths[n]+".output", names)
	}
	l.injectedNames(l.root.get("on_resume"), "on_resume", names)
	for n, t := range l.steps {
		l.injectedNames(t.get("on_resume"), l.paths[n]+".on_resume", names)
	}
}

func (l *loader) defineName(defined *map[string]int, kind string, t *tree, step int, path string, reserved []string) {
	name := t.text()
	if name == "" {
		return
	}
	if slices.Contains(reserved, name) {
		l.addAt(t, path, "choose another name", "%s is reserved", name)
		return
	}
	if first, ok := (*defined)[name]; ok {
		other := l.steps[first].get(map[string]string{"step": "id", "output": "output"}[kind])
		l.addAt(t, path, fmt.Sprintf("line %d has it already", other.line), "the %s %s is there twice", kind, name)
		return
	}
	(*defined)[name] = step
}

func (l *loader) injectedNames(resume *tree, path string, reserved []string) {
	m := resume.get("inject").mapping()
	if m == nil {
		return
	}
	for i, key := range m.keys {
		name, at := key.text(), path+".inject."+key.text()
		step, isOutput := l.outputs[name]
		switch {
		case slices.Contains(reserved, name):
			l.addAt(key, at, "choose another name", "%s is reserved", name)
		case isOutput:
			l.addAt(key, at, fmt.Sprintf("the output on line %d has it already", l.steps[step].get("output").line), "the name %s is there twice", name)
		case l.injected[name] == nil:
			l.injected[name] = m.values[i]
		}
	}
}

// step reads the remaining fields of a step.
func (l *loader) step(i int) {
	s, t := &l.w.Steps[i], l.steps[i]
	path := l.paths[i]
	l.checkTool(t.get("tool"), path+".tool")
	scope := l.scopeOf(&i)
	if c := t.get("condition"); c != nil {
		s.Condition = l.condition(c, path+".condition", scope)
	}
	if f := t.get("foreach"); f != nil {
		if s.Tool == "wait" {
			l.addAt(t.key("foreach"), path+".foreach", "remove foreach: one step waits for all", "wait cannot be repeated")
		}
		s.Foreach = l.foreach(f, path+".foreach", scope)
		scope.hasItems = true
	}
	s.OwnCopy = l.ownCopy(t, path)
	s.Parallel = 1
	if n := t.get("parallel").integer(); n != nil {
		s.Parallel = *n
	}
	scope.readers = l.inputReaders(s.Tool)
	s.Input = l.toolInput(t, s.Tool, path, scope)
	l.checkScript(t.get("input"), s.Tool, path+".input")
	s.Schema = l.schema(t.get("schema"), path+".schema")
	s.Timeout = l.timeLimit(t, path)
	s.Retry = l.retry(t.get("retry"), path+".retry")
	s.Repeat = l.repeat(t.get("repeat"), path+".repeat", i)
	s.OnError = t.get("on_error").text()
	s.Confidence = l.confidence(t.get("confidence"), path+".confidence")
	s.OnReject = t.get("on_reject").text()
	s.OnRejectGoto = t.get("on_reject").get("goto").text()
	l.checkTarget(t.get("on_reject").get("goto"), path+".on_reject.goto", s.Phase)
	s.OnResume = l.resume(t.get("on_resume"), path+".on_resume", s.Phase)
	s.OnTimeout = l.timeoutAction(t.get("on_timeout"), path+".on_timeout", l.scopeOf(&i), s.Phase)
	s.silence = silenceOf(s, t.get("input"))
	l.suspend(s, t, path)
	l.checkSilence(s, t, path)
	l.checkItemAnswers(s, t, path)
	l.checkQuestion(s, t, path)
}

// timeLimit reads the time limit of one execution of the step. It refuses one that has no effect.
func (l *loader) timeLimit(t *tree, path string) time.Duration {
	hint := "remove it"
	switch t.get("tool").text() {
	case postQuestion, requestApproval:
		hint = "move it into input: it is how long people have"
	case workflowTool:
		hint = "remove it: each step of the other workflow has its own"
	case "wait":
	default:
		return l.duration(t.get("timeout"), path+".timeout", 0)
	}
	if limit := t.get("timeout"); limit != nil && !l.known.WasChecked {
		l.addAt(t.key("timeout"), path+".timeout", hint, "%s has no time limit", t.get("tool").text())
	}
	return 0
}

// ownCopy reads whether the step has its own working copy. Only steps that a worker runs have one.
func (l *loader) ownCopy(t *tree, path string) bool {
	flag, name := t.get("working_copy"), t.get("tool").text()
	if flag.text() != "own" {
		return false
	}
	_, isKnown := l.known.Tools[name]
	runs := name == "agent" || name == "shell" || slices.Contains(l.known.DelegatedTools, name)
	if !runs && (isKnown || slices.Contains(engineTools, name) || strings.Contains(name, ".")) {
		l.addAt(flag, path+".working_copy", "remove it: agents and commands have one", "%s has no working copy", name)
	}
	return true
}

// suspend reads whether the step waits for people. It refuses fields that have no effect on a step that does not wait.
func (l *loader) suspend(s *Step, t *tree, path string) {
	flag := t.get("suspend")
	s.Suspend = flag.boolean() || s.Tool == requestApproval
	switch {
	case s.Tool == requestApproval && flag != nil && !flag.boolean() && !flag.isUnreadable():
		l.addAt(flag, path+".suspend", "remove it", "an approval that nobody waits for allows everything")
	case flag.boolean() && s.Tool != postQuestion && s.Tool != requestApproval && s.Tool != "":
		l.addAt(flag, path+".suspend", "post_question and request_approval do; other steps are waited for anyway", "%s does not suspend", s.Tool)
		return
	}
	if s.Suspend && s.OnError == OnErrorContinue && s.MayBeApproval() {
		l.warn(t.get("on_error"), path+".on_error", l.unapprovedHint(s, t), "nothing goes on without an approval: it ends the run also with on_error: continue")
	}
	for _, name := range []string{"on_resume", "on_timeout", "on_reject"} {
		part := t.get(name)
		if part == nil || s.Tool == "" {
			continue
		}
		hint := "add suspend: true"
		if s.Tool != postQuestion {
			hint = "remove it"
		}
		switch {
		case !s.Suspend:
			l.addAt(t.key(name), path+"."+name, hint, "%s never happens: the step does not wait for an answer", name)
		case name == "on_reject" && !s.MayBeApproval():
			l.addAt(t.key(name), path+"."+name, "use request_approval, or type: approval", "only approvals are rejected")
		}
	}
}

// MayBeApproval reports whether the step's question is, or may be, an approval. The steps after it do not run without an
// approval, unless on_reject or on_timeout names another way.
func (s *Step) MayBeApproval() bool {
	if s.Tool == requestApproval {
		return true
	}
	for _, key := range []string{"type", "responseType", "response_type"} {
		v, ok := s.Input.Field(key)
		if !ok {
			continue
		}
		if lit, fixed := v.Literal(); !fixed || lit == "approval" {
			return true
		}
	}
	if items, ok := s.Input.Field("items"); ok && mayHoldApproval(items) {
		return true
	}
	_, action := s.Input.Field("action")
	return action
}

// mayHoldApproval reports whether one of the items of a question is, or may be, an approval.
func mayHoldApproval(items Value) bool {
	list, fixed := items.Literal()
	if !fixed {
		return true
	}
	all, _ := list.([]any)
	for _, item := range all {
		fields, _ := item.(map[string]any)
		for _, key := range []string{"type", "responseType", "response_type"} {
			if fields[key] == "approval" {
				return true
			}
		}
	}
	return false
}

func (l *loader) retry(t *tree, path string) *Retry {
	if t.mapping() == nil {
		return nil
	}
	r := &Retry{Attempts: 1, Factor: 2, Backoff: l.duration(t.get("backoff"), path+".backoff", 10*time.Second)}
	r.MaxBackoff = l.duration(t.get("max_backoff"), path+".max_backoff", max(r.Backoff, 10*time.Minute))
	if r.Backoff > r.MaxBackoff && t.get("backoff") != nil && !l.known.WasChecked {
		l.addAt(t.get("backoff"), path+".backoff", "shorten it, or write a longer max_backoff", "backoff is longer than max_backoff")
	}
	if n := t.get("attempts").integer(); n != nil {
		r.Attempts = *n
	}
	if f := t.get("factor"); f != nil {
		switch v := f.value.(type) {
		case int64:
			r.Factor = float64(v)
		case float64:
			r.Factor = v
		}
	}
	return r
}

// repeat reads to which step, until which condition and how often a run goes back after a step.
func (l *loader) repeat(t *tree, path string, step int) *Repeat {
	if t.mapping() == nil {
		return nil
	}
	s, from := &l.w.Steps[step], t.get("from")
	r := &Repeat{From: s.ID, Max: l.w.MaxIterations}
	if name := from.text(); name != "" {
		r.From = name
		l.checkTarget(from, path+".from", s.Phase)
		if first, ok := l.ids[name]; ok && first > step {
			l.addAt(from, path+".from", "name "+s.ID+", or a step before it", "the step %s comes later: repeat goes back", name)
		}
	}
	if n := t.get("max").integer(); n != nil {
		r.Max = *n
	}
	if until := t.get("until"); until != nil {
		r.Until = l.condition(until, path+".until", l.scopeOf(&step))
	}
	return r
}

// TooManyItemsHint is the hint for a foreach with more than [MaxItems] items.
const TooManyItemsHint = "let a step give a part of the list, and repeat the steps for the next part"

func (l *loader) foreach(t *tree, path string, scope scope) *Value {
	v := l.value(t, path, scope)
	if text, ok := t.value.(string); ok && !strings.Contains(text, "{{") {
		l.addAt(t, path, fmt.Sprintf("write a list, or \"{{ %s }}\"", text), "foreach needs a list")
	} else if located := v.LocatedExpressions(); len(located) > 0 {
		k := located[0].Kind()
		if !located[0].Whole || k != expression.Unknown && k != expression.List {
			l.addAt(t, path, "write one template that gives a list", "foreach needs a list, and this is none")
		} else if n := located[0].RangeLength(); n > MaxItems && !l.known.WasChecked {
			l.addAt(t, path, TooManyItemsHint, "foreach gives %d items, and may give at most %d", n, MaxItems)
		}
	} else if n := len(t.list()); n > MaxItems && !l.known.WasChecked {
		l.addAt(t, path, TooManyItemsHint, "foreach gives %d items, and may give at most %d", n, MaxItems)
	}
	return &v
}

// schema reads the JSON Schema of a step's output.
func (l *loader) schema(t *tree, path string) json.RawMessage {
	if t.mapping() == nil {
		return nil
	}
	value := t.plainValue()
	if _, err := CompileSchema(value); err != nil {
		l.addAt(t, path, "see json-schema.org", "it is no JSON Schema: %s", schemaFault(err))
		return nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return data
}

func (l *loader) resume(t *tree, path string, within Phase) *Resume {
	if t.mapping() == nil {
		return nil
	}
	r := &Resume{}
	if m := t.get("inject").mapping(); m != nil {
		for i, key := range m.keys {
			r.Inject = append(r.Inject, NamedValue{key.text(), l.value(m.values[i], path+".inject."+key.text(), injectScope)})
		}
	}
	to := t.get("goto")
	r.Goto = to.text()
	if m := to.mapping(); m != nil {
		r.GotoBy = map[string]string{}
		for i, key := range m.keys {
			r.GotoBy[key.text()] = m.values[i].text()
			l.checkTarget(m.values[i], path+".goto."+key.text(), within)
		}
	}
	l.checkTarget(to, path+".goto", within)
	return r
}

func (l *loader) timeoutAction(t *tree, path string, scope scope, within Phase) *TimeoutAction {
	if t.mapping() == nil {
		return nil
	}
	a := &TimeoutAction{Tool: t.get("tool").text(), Goto: t.get("goto").text()}
	scope.readers = l.inputReaders(a.Tool)
	if a.Tool != "" {
		l.checkTool(t.get("tool"), path+".tool")
		l.checkImmediate(t.get("tool"), path+".tool")
		a.Input = l.toolInput(t, a.Tool, path, scope)
	}
	l.checkTarget(t.get("goto"), path+".goto", within)
	return a
}

// checkImmediate refuses an on_timeout tool that the run would have to wait for.
func (l *loader) checkImmediate(t *tree, path string) {
	if name := t.text(); slices.Contains(engineTools, name) || slices.Contains(l.known.DelegatedTools, name) {
		l.addAt(t, path, "let a step do it, and go there: on_timeout: {goto: …}", "on_timeout cannot wait for %s", name)
	}
}

// checkTarget checks the name of a step to go to. The step must be in the same phase.
func (l *loader) checkTarget(t *tree, path string, within Phase) {
	name := t.text()
	if name == "" {
		return
	}
	i, ok := l.ids[name]
	switch {
	case !ok:
		l.addAt(t, path, nearestHint(name, l.stepNames()), "there is no step %s", name)
	case l.w.Steps[i].Phase != within:
		l.addAt(t, path, "name one of "+string(within), "the step %s is one of %s, where nothing of %s leads", name, l.w.Steps[i].Phase, within)
	}
}

func (l *loader) stepNames() []string {
	names := make([]string, 0, len(l.w.Steps))
	for i := range l.w.Steps {
		if id := l.w.Steps[i].ID; id != "" {
			names = append(names, id)
		}
	}
	return names
}
