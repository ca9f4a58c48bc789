package definition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
)

// decisiveFields are the fields that the rules of asking judge together. If one of them comes from a template, only the run
// can check the rules.
var decisiveFields = []string{
	"type", "responseType", "response_type", "options", "other", "items", "questions", "default", "defaultAnswer",
	"timeoutAction", "on_timeout", "escalation", "allow_danger_default",
}

// anyDeadline allows every deadline, because the limits of deadlines belong to the workspace.
var anyDeadline = fermata.Policy{AllowNever: true, AllowLonger: true, AllowShorter: true}

// checkQuestion checks a question against the rules of asking, as far as the file has its values.
func (l *loader) checkQuestion(s *Step, t *tree, path string) {
	at := path + ".input"
	input := t.get("input")
	if s.Tool != postQuestion && s.Tool != requestApproval || input.mapping() == nil || l.hasErrorAt(at) {
		return
	}
	fields, ok := literalQuestion(input)
	if !ok {
		return
	}
	ask, err := posting.Read(fields, s.Tool == requestApproval)
	if err == nil {
		if !s.Suspend {
			ask.Type = fermata.NonBlocking
		}
		var q *fermata.Question
		if q, err = ask.Open("", &fermata.Task{}, fermata.SystemActor, anyDeadline, time.Time{}); err == nil {
			l.checkOptions(q, t.get("on_resume").get("goto"), path+".on_resume.goto")
			l.checkDeadline(ask.Timeout, input, at)
			return
		}
	}
	l.reportRefusal(input, at, err)
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

// hasErrorAt reports whether there is an error at or below a path.
func (l *loader) hasErrorAt(path string) bool {
	return slices.ContainsFunc(l.problems, func(p Problem) bool { return !p.Warning && strings.HasPrefix(p.Path, path) })
}

// literalQuestion returns the input of a question as the file has it, with placeholders for texts that only the run
// knows. It reports false if too little is known.
func literalQuestion(input *tree) (map[string]any, bool) {
	m, fields := input.mapping(), map[string]any{}
	for i, key := range m.keys {
		name, value := key.text(), m.values[i]
		switch {
		case !containsTemplate(value):
			fields[name] = value.plainValue()
		case name == "timeout", name == "timeoutHours":
		case slices.Contains(decisiveFields, name):
			return nil, false
		case name == "question", name == "title":
			fields[name] = "…"
		case name == "action":
			fields[name] = map[string]any{"tool": "…"}
		}
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

// fieldAliases are the names that workflows use for fields of questions.
var fieldAliases = map[string]string{"default": "defaultAnswer", "on_timeout": "timeoutAction", "response_type": "responseType"}

// reportRefusal reports why the question could not be asked.
func (l *loader) reportRefusal(input *tree, path string, err error) {
	var refusal *fermata.Error
	if !errors.As(err, &refusal) || len(refusal.Problems) == 0 {
		l.addAt(input, path, "", "%s", err)
		return
	}
	for _, p := range refusal.Problems {
		name := p.Field
		if end := strings.IndexAny(name, ".["); end >= 0 {
			name = name[:end]
		}
		field := input.get(name)
		if field == nil {
			field = input.get(fieldAliases[name])
		}
		if field == nil {
			field = input
		}
		l.addAt(field, path, useFileNames(input, refusal.Hint), "%s", useFileNames(input, p.Field+": "+p.Message))
	}
}

// useFileNames replaces the names of fields in a text by the names that the file uses.
func useFileNames(input *tree, text string) string {
	for name, other := range fieldAliases {
		if name != "default" && input.get(name) == nil && input.get(other) != nil {
			text = strings.ReplaceAll(text, name, other)
		}
	}
	return text
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
