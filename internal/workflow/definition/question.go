package definition

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/posting"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// decisiveFields are the fields that the rules for questions check together. If one of them contains a template, only
// the run can check the rules.
var decisiveFields = []string{
	"type", "responseType", "response_type", "options", "other", "items", "questions", "default", "defaultAnswer",
	"timeoutAction", "on_timeout", "escalation", "allow_danger_default",
}

// anyDeadline allows every deadline, because the limits of deadlines belong to the workspace.
var anyDeadline = fermata.Policy{AllowNever: true, AllowLonger: true, AllowShorter: true}

// shapeFields are the fields that decide what the other fields mean. If one of them is wrong, no rule for questions can
// be checked.
var shapeFields = []string{"type", "responseType", "response_type", "items", "questions", "multiSelect", "other"}

// unreadItem replaces an item with a wrong field.
var unreadItem = map[string]any{"prompt": "…", "response_type": string(fermata.ResponseText), "required": false}

// checkQuestion checks a question against the rules for questions, as far as its values are literals.
func (l *loader) checkQuestion(s *Step, t *tree, path string) {
	at := path + ".input"
	input := t.get("input")
	if s.Tool != postQuestion && s.Tool != requestApproval || input.mapping() == nil {
		return
	}
	wrong := l.wrongFields(at)
	for _, name := range wrong {
		if isItem(name) {
			continue
		}
		if slices.Contains(shapeFields, name) || expression.Nearest(name, shapeFields) != "" {
			return
		}
	}
	fields, ok := literalQuestion(input, wrong)
	if !ok {
		return
	}
	ask, err := posting.Read(fields, s.Tool == requestApproval)
	l.reportRefusal(input, at, wrong, err)
	if ask.Question == "" && ask.Title == "" && len(ask.Items) == 0 {
		return
	}
	if !s.Suspend {
		ask.Type = fermata.NonBlocking
	}
	l.checkDeadline(ask.Timeout, input, at)
	q, err := openOffline(ask)
	l.reportRefusal(input, at, wrong, err)
	if err != nil {
		q, err = openOffline(onlyOptions(ask))
	}
	if err == nil && !slices.Contains(wrong, "options") {
		l.checkOptions(q, t.get("on_resume").get("goto"), path+".on_resume.goto")
	}
}

// openOffline returns the question that a request would open under a policy that allows every deadline.
func openOffline(ask fermata.Ask) (*fermata.Question, error) {
	return ask.Open("", &fermata.Task{}, fermata.SystemActor, anyDeadline, time.Time{})
}

// onlyOptions returns a request with the same possible answers, without the fields that may break another rule.
func onlyOptions(ask fermata.Ask) fermata.Ask {
	bare := fermata.Ask{Type: ask.Type, Question: "…", ResponseType: ask.ResponseType, Other: ask.Other}
	if len(ask.Items) == 1 {
		bare.ResponseType, bare.Other, ask.Options = ask.Items[0].ResponseType, ask.Items[0].Other, ask.Items[0].Options
	}
	if bare.Type == fermata.NonBlocking {
		bare.Type = fermata.Blocking
	}
	for _, option := range ask.Options {
		if !slices.ContainsFunc(bare.Options, func(o fermata.Option) bool { return o.Value == option.Value }) {
			bare.Options = append(bare.Options, option)
		}
	}
	return bare
}

// isItem reports whether a wrong field is a single item of a question.
func isItem(name string) bool { return strings.HasPrefix(name, "items[") }

// wrongFields returns the fields of an object for which an error was reported. For an error within an item it returns
// the item, such as items[0].
func (l *loader) wrongFields(path string) []string {
	var names []string
	for _, p := range l.problems {
		rest, isBelow := strings.CutPrefix(p.Path, path+".")
		if p.Warning || !isBelow {
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if isItem(rest) {
			end = strings.IndexByte(rest, ']') + 1
		}
		if end >= 0 {
			rest = rest[:end]
		}
		names = append(names, rest)
	}
	return names
}

// checkDeadline warns of a timeout that the policy of the workspace refuses. It is no error, because an admin can
// change the policy before the first run.
func (l *loader) checkDeadline(timeout fermata.Timeout, input *tree, path string) {
	if l.known.Policy == nil || timeout == "" {
		return
	}
	var refusal *fermata.Error
	if err := l.known.Policy.CheckTimeout("timeout", timeout); errors.As(err, &refusal) && refusal.Code == fermata.CodePolicyViolation {
		name := "timeout"
		if input.get(name) == nil {
			name = "timeoutHours"
		}
		l.warn(input.get(name), path+"."+name, "an admin changes the policy: fermata policy set", "%s", refusal.Problems[0].Message)
	}
}

// literalQuestion returns the input of a question as the file has it, without the wrong fields, and with placeholders
// for texts that contain templates. It reports false if too little is known.
func literalQuestion(input *tree, wrong []string) (map[string]any, bool) {
	m, fields := input.mapping(), map[string]any{}
	isAsked := false
	for i, key := range m.keys {
		name, value := key.text(), m.values[i]
		isAsked = isAsked || slices.Contains([]string{"question", "title", "items", "questions"}, name)
		isWrong := slices.Contains(wrong, name)
		switch {
		case !isWrong && !containsTemplate(value):
			fields[name] = value.plainValue()
		case name == "timeout", name == "timeoutHours":
		case !isWrong && slices.Contains(decisiveFields, name):
			return nil, false
		case name == "question", name == "title":
			fields[name] = "…"
		case name == "action":
			fields[name] = map[string]any{"tool": "…"}
		}
	}
	items, _ := fields["items"].([]any)
	for i := range items {
		if slices.Contains(wrong, fmt.Sprintf("items[%d]", i)) {
			items[i] = unreadItem
		}
	}
	if !isAsked {
		fields["question"] = "…" // the missing question was reported already
	}
	return fields, true
}

// containsTemplate reports whether a value contains a template.
func containsTemplate(t *tree) bool {
	if m := t.mapping(); m != nil {
		return slices.ContainsFunc(m.values, containsTemplate)
	}
	return t.isUnreadable() || hasTemplate(t) || slices.ContainsFunc(t.list(), containsTemplate)
}

// fieldAliases maps names of question fields to the names that workflow files may use instead.
var fieldAliases = map[string]string{"default": "defaultAnswer", "on_timeout": "timeoutAction", "response_type": "responseType"}

// reportRefusal reports why the question could not be asked. It leaves out wrong fields, which were reported already.
// If there are any, it also leaves out missing fields, because a wrong field may be a misspelt one.
func (l *loader) reportRefusal(input *tree, path string, wrong []string, err error) {
	if err == nil {
		return
	}
	var refusal *fermata.Error
	if !errors.As(err, &refusal) || len(refusal.Problems) == 0 {
		l.addAt(input, path, "", "%s", err)
		return
	}
	for _, p := range refusal.Problems {
		pointer := strings.FieldsFunc(p.Field, func(c rune) bool { return strings.ContainsRune(".[]", c) })
		if len(pointer) > 0 && input.get(pointer[0]) == nil && fieldAliases[pointer[0]] != "" {
			pointer[0] = fieldAliases[pointer[0]]
		}
		isThere := len(pointer) > 0 && input.get(pointer[0]) != nil
		dependsOnItems := slices.ContainsFunc(wrong, isItem) && (p.Field == "items" || strings.HasPrefix(p.Field, "default"))
		if len(wrong) > 0 && (!isThere || slices.Contains(wrong, pointer[0]) || dependsOnItems) {
			continue
		}
		field := input
		if isThere {
			field, _ = input.nodeAt(pointer)
		}
		hint := cmp.Or(refusal.Hint, remedyOf(p))
		l.addAt(field, path, useFileNames(input, hint), "%s", useFileNames(input, p.Field+": "+p.Message))
	}
}

// remedies are hints for problems of questions, by a part of the message. The first match is used.
var remedies = []struct{ message, hint string }{
	{"stands twice", "change one of them, or remove it"},
	{"is not an option", "write one of the options, or add it to them"},
	{"is no valid answer", "write a default that a person could answer"},
	{"marked as dangerous", "choose another default or on_timeout, or set allow_danger_default if you mean it"},
	{"silence would approve", "choose the default reject or another on_timeout: only people approve"},
	{"no level to escalate to", "add escalation: [{timeout: 1h, on_timeout: fail}]"},
	{"no default for every", "add a default, or write another on_timeout"},
	{"needs a default", "add a default, or suspend: true"},
	{"must name at least one option", "add options: [a, b]"},
	{"allowed only with choice", "remove the options, or write response_type: choice"},
	{"must not be empty", "write what people read"},
	{"says the same as", "remove one of the two"},
	{"is above max", "change one of the two"},
	{"is no limit of", "remove it"},
	{"is no e-mail address", "write name@example.com"},
	{"the number of an issue", "write issueNumber: 42"},
	{"may have at most", "shorten it"},
}

// remedyOf returns the hint for a problem of a question, or "" if there is none.
func remedyOf(p fermata.Problem) string {
	for _, remedy := range remedies {
		if strings.Contains(p.Message, remedy.message) {
			return remedy.hint
		}
	}
	return ""
}

// fieldsInText matches the names of fields in a text, and quoted objects as a whole: the fields within an object, and below
// another field, have no other names.
var fieldsInText = lazyregexp.New(`\{[^}]*\}|[\w.\[\]]+`)

// useFileNames replaces the names of the question's own fields in a text by the names that the file uses.
func useFileNames(input *tree, text string) string {
	return fieldsInText().ReplaceAllStringFunc(text, func(name string) string {
		other := fieldAliases[name]
		if name == "default" || other == "" || input.get(name) != nil || input.get(other) == nil {
			return name
		}
		return other
	})
}

// checkOptions refuses a goto for an answer that the question does not allow.
func (l *loader) checkOptions(q *fermata.Question, to *tree, path string) {
	m := to.mapping()
	if m == nil || len(q.Items) != 1 {
		return
	}
	item := q.Items[0]
	var known []string
	switch item.ResponseType {
	case fermata.ResponseChoice:
		if item.TakesOther() {
			return
		}
		for _, o := range item.Options {
			known = append(known, o.Value)
		}
	case fermata.ResponseBoolean:
		known = []string{Yes, No}
	case fermata.ResponseApproval:
		known = []string{fermata.Approve}
	case fermata.ResponseText, fermata.ResponseDate:
		return
	case fermata.ResponseMultiChoice, fermata.ResponseNumber:
		l.addAt(to, path, "name one step, and let conditions decide", "goto by option is for one of several options, and the answer is %s", item.ResponseType)
		return
	}
	for _, key := range m.keys {
		if slices.Contains(known, key.text()) {
			continue
		}
		hint := nearestHint(key.text(), known)
		if q.Type == fermata.Approval && key.text() == fermata.Reject {
			hint = fmt.Sprintf("write on_reject: {goto: %s}", to.get(key.text()).text())
		}
		l.addAt(key, path+"."+key.text(), hint, "the question has no option %s", key.text())
	}
}

// Yes and No are the keys in a map of goto for the answers to a yes-or-no question.
const (
	Yes = "yes"
	No  = "no"
)
