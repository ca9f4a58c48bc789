package definition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// head reads the name, the settings and the inputs of the workflow.
func (l *loader) head() {
	w := l.w
	w.Name, w.Description = l.root.get("name").text(), l.root.get("description").text()
	w.Project = l.root.get("project").text()
	if n := l.root.get("max_iterations").integer(); n != nil {
		w.MaxIterations = *n
	}
	w.FailFast = l.root.get("fail_fast").boolean()
	w.Confidence = l.confidence(l.root.get("confidence"), "confidence")
	if m := l.root.get("inputs").mapping(); m != nil {
		for i, key := range m.keys {
			w.Inputs = append(w.Inputs, l.input(key, m.values[i]))
		}
	}
}

func (l *loader) confidence(t *tree, path string) *Confidence {
	if t.mapping() == nil {
		return nil
	}
	c := &Confidence{Auto: t.get("auto").integer(), Ask: t.get("ask").integer()}
	if c.Auto != nil && c.Ask != nil && *c.Ask > *c.Auto {
		l.addAt(t.get("ask"), path+".ask", "below ask nobody is asked, from auto on nobody is asked, either", "ask is above auto")
	}
	return c
}

func (l *loader) input(key, t *tree) Input {
	path := "inputs." + key.text()
	in := Input{
		Name: key.text(), Description: t.get("description").text(), Type: t.get("type").text(), Required: t.get("required").boolean(),
	}
	if slices.Contains(reservedNames, in.Name) {
		l.addAt(key, path, "choose another name", "%s is reserved", in.Name)
	}
	for i, v := range t.get("enum").list() {
		l.checkType(v, in.Type, fmt.Sprintf("%s.enum[%d]", path, i))
		in.Enum = append(in.Enum, v.plainValue())
	}
	d := t.get("default")
	if d == nil || d.isUnreadable() {
		return in
	}
	in.Default = d.plainValue()
	l.checkType(d, in.Type, path+".default")
	if in.Required {
		l.warn(d, path+".default", "remove required, or the default", "a required input never takes its default")
	}
	if len(in.Enum) > 0 && !slices.ContainsFunc(in.Enum, func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(in.Default) }) {
		l.addAt(d, path+".default", "", "%s is not in enum", kindOf(d))
	}
	return in
}

// checkType reports a literal value that does not have the type of an input.
func (l *loader) checkType(t *tree, want, path string) {
	got := "object"
	switch v := t.value.(type) {
	case unreadableValue:
		return
	case nil:
		return
	case string:
		if got = "string"; strings.Contains(v, "{{") {
			return
		}
	case bool:
		got = "boolean"
	case int64, float64:
		got = "number"
	case []*tree:
		got = "array"
	}
	if _, isType := inputKinds[want]; !isType || got == want {
		return
	}
	hint := ""
	if want == "string" && got != "object" && got != "array" {
		hint = fmt.Sprintf("quote it: %q", fmt.Sprint(t.value))
	}
	l.addAt(t, path, hint, "must be %s, and is %s", typeNames[want], kindOf(t))
}

// duration reads a duration. If the text is no duration, it reports that, and
// returns fallback.
func (l *loader) duration(t *tree, path string, fallback time.Duration) time.Duration {
	if t.text() == "" {
		return fallback
	}
	d, err := fermata.Timeout(t.text()).Duration()
	if err != nil {
		message, hint := explainDuration(t)
		l.addAt(t, path, hint, "%s", message)
		return fallback
	}
	return d
}

var triggerTypes = []string{LabelAdded, Deployment, Schedule, Webhook, Manual, Event}

// triggers reads the triggers. An empty list means that only other workflows start this one. It warns if there is no
// list, because the author may have forgotten it.
func (l *loader) triggers() {
	if l.root.get("triggers") == nil {
		l.warn(l.root.key("name"), "triggers", "to start it by hand, add triggers: [{manual: true}]; triggers: [] says that this is meant",
			"only a step of another workflow starts this one")
	}
	for i, t := range l.root.get("triggers").list() {
		if t.mapping() != nil {
			l.w.Triggers = append(l.w.Triggers, l.trigger(i, t))
		}
	}
}

func (l *loader) trigger(i int, t *tree) Trigger {
	path := fmt.Sprintf("triggers[%d]", i)
	tr := Trigger{
		Index: i, Line: t.line, Label: t.get(LabelAdded).text(), Environment: t.get(Deployment).text(), Repo: t.get("repo").text(),
		Cron: t.get(Schedule).text(), Timezone: t.get("timezone").text(), Catchup: t.get("catchup").text(),
		Auth: t.get("auth").text(), EventType: t.get(Event).text(),
	}
	var types []string
	for _, name := range triggerTypes {
		if t.get(name) != nil {
			types = append(types, name)
		}
	}
	switch len(types) {
	case 1:
		tr.Type = types[0]
	case 0:
		l.addAt(t, path, "write one of "+strings.Join(triggerTypes, ", "), "the trigger has no type")
	default:
		l.addAt(t.key(types[1]), path, "begin a line of its own with -", "one trigger has several types: %s", strings.Join(types, ", "))
	}
	tr.CatchupAge = l.duration(t.get("catchup_age"), path+".catchup_age", 24*time.Hour)
	l.schedule(&tr, t, path)
	l.checkEventType(t.get(Event), path+".event")
	if tr.Type == Webhook && tr.Auth == "" {
		tr.Auth = AuthSignature
	}
	if tr.Type == Webhook && tr.Auth == AuthNone {
		l.warn(t.get("auth"), path+".auth", "leave it out unless the caller cannot sign", "anybody who knows the address can start runs")
	}
	if c := t.get("if"); c != nil {
		tr.If = l.condition(c, path+".if", scopeOfTrigger(tr.Type))
	}
	l.triggerInputs(&tr, t, path)
	return tr
}

// checkEventType refuses types of events that do not exist.
func (l *loader) checkEventType(t *tree, path string) {
	if t.text() == "" || slices.Contains(fermata.EventTypes, fermata.EventType(t.text())) {
		return
	}
	names := make([]string, len(fermata.EventTypes))
	for i, known := range fermata.EventTypes {
		names[i] = string(known)
	}
	hint := nearestHint(t.text(), names)
	if !strings.HasPrefix(hint, "did") {
		hint = "such as question.answered or task.ended; fermata events shows what happens"
	}
	l.addAt(t, path, hint, "there are no events of the type %q", t.text())
}

func (l *loader) schedule(tr *Trigger, t *tree, path string) {
	if tr.Type != Schedule || tr.Cron == "" {
		return
	}
	if tr.Timezone == "" {
		tr.Timezone = "UTC"
	}
	if tr.Catchup == "" {
		tr.Catchup = CatchupLatest
	}
	if _, err := loadZone(tr.Timezone); err != nil {
		l.addAt(t.get("timezone"), path+".timezone", "write a name such as Europe/Berlin", "%q is no time zone", tr.Timezone)
		tr.Timezone = "UTC"
	}
	if _, err := ParseCron(tr.Cron, tr.Timezone); err != nil {
		message, hint := messageAndHint(err)
		l.addAt(t.get(Schedule), path+".schedule", hint, "%s", message)
	}
}

func (l *loader) triggerInputs(tr *Trigger, t *tree, path string) {
	given := t.get("inputs")
	if m := given.mapping(); m != nil {
		tr.Inputs = map[string]Value{}
		for i, key := range m.keys {
			at := path + ".inputs." + key.text()
			in := l.inputNamed(key.text())
			if in == nil {
				l.addAt(key, at, nearestHint(key.text(), l.inputNames()), "there is no input %s", key.text())
				continue
			}
			l.checkType(m.values[i], in.Type, at)
			tr.Inputs[in.Name] = l.value(m.values[i], at, scopeOfTrigger(tr.Type))
		}
	}
	if tr.Type != Schedule {
		return
	}
	for _, in := range l.w.Inputs {
		if _, ok := tr.Inputs[in.Name]; in.Required && !ok {
			l.warn(t, path, fmt.Sprintf("add inputs: {%s: …} to the trigger, or give the input a default", in.Name), "the schedule gives no value for the required input %s", in.Name)
		}
	}
}

func (l *loader) inputNamed(name string) *Input {
	i := slices.IndexFunc(l.w.Inputs, func(in Input) bool { return in.Name == name })
	if i < 0 {
		return nil
	}
	return &l.w.Inputs[i]
}

func (l *loader) inputNames() []string {
	names := make([]string, len(l.w.Inputs))
	for i, in := range l.w.Inputs {
		names[i] = in.Name
	}
	return names
}

func nearestHint(name string, names []string) string {
	if near := expression.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	if len(names) == 0 || len(names) > 20 {
		return ""
	}
	return "there are " + strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

func (l *loader) concurrency() {
	t := l.root.get("concurrency")
	if t.mapping() == nil {
		return
	}
	c := &Concurrency{Policy: t.get("policy").text()}
	if c.Policy == "" {
		c.Policy = Skip
	}
	if key := t.get("key"); key != nil {
		c.Key = l.value(key, "concurrency.key", concurrencyScope)
	}
	l.w.Concurrency = c
}
