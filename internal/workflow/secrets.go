package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/redact"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// secrets are those that a definition names, and every other one of the server. What a run stores or tells holds
// none of them, whichever process looked them up: a tool may give one back long
// after the step that used it.
type secrets struct {
	read func(name string) (string, error)
	// forms are how the values are written, the longest first.
	forms []form
}

const (
	// shortestSecret is how long a value is that is told from ordinary text.
	shortestSecret = 4
	// shortestOther is the same for a secret that the definition does not name: a short one is an ordinary word there.
	shortestOther = 8
)

type form struct{ text, name string }

// secretsOf looks the secrets of a definition up. One that is not there is told
// by the step that uses it.
func (s *Service) secretsOf(d *definition.Workflow) secrets {
	known := secrets{read: func(name string) (string, error) {
		if err := s.mayUse(d.Project, name); err != nil {
			return "", err
		}
		return s.Secret(name)
	}}
	var names []string
	if s.SecretNames != nil {
		names = s.SecretNames()
	}
	for i, name := range slices.Concat(d.Secrets, names) {
		v, err := s.Secret(name)
		if err != nil || len(v) < shortestSecret || i >= len(d.Secrets) && len(v) < shortestOther {
			continue
		}
		quoted := string(data(v))
		for _, text := range []string{v, quoted[1 : len(quoted)-1], url.QueryEscape(v), url.PathEscape(v)} {
			known.forms = append(known.forms, form{text, name})
		}
	}
	slices.SortStableFunc(known.forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	return known
}

// mayUse refuses a secret that is not for the workflows of the project.
func (s *Service) mayUse(project, name string) *fermata.Error {
	if s.MayUseSecret == nil {
		return nil
	}
	return s.MayUseSecret(orDefault(project), name)
}

// hide takes the secrets out of a text.
func (k secrets) hide(text string) string {
	for _, f := range k.forms {
		text = strings.ReplaceAll(text, f.text, "[secret "+f.name+"]")
	}
	return text
}

// isIn reports whether a secret stands in what is about to be shown.
func (k secrets) isIn(v any) bool {
	if len(k.forms) == 0 {
		return false
	}
	plain := data(value(data(v)))
	return string(k.storedJSON(plain)) != string(plain)
}

// storedJSON is a value as it is kept.
func (k secrets) storedJSON(v any) json.RawMessage {
	doc := data(v)
	if len(k.forms) == 0 {
		return doc
	}
	return data(k.hideIn(value(doc)))
}

// hideIn takes the secrets out of the texts of a value, and leaves its form.
func (k secrets) hideIn(v any) any {
	switch v := v.(type) {
	case string:
		return k.hide(v)
	case []any:
		for i := range v {
			v[i] = k.hideIn(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[k.hide(key)] = k.hideIn(one)
		}
		return out
	}
	return v
}

// hideInText is a text as events, questions and people get it: without the secrets,
// and without what looks like one.
func (k secrets) hideInText(text string) string {
	safe, _ := redact.Text(k.hide(text))
	return safe
}

// describe brings an error of a step on the wire.
func (k secrets) describe(err error) *fermata.StepError {
	out := describe(err)
	out.Message, out.Hint = k.hideInText(out.Message), k.hideInText(out.Hint)
	out.Stdout, out.Stderr = k.hideInText(out.Stdout), k.hideInText(out.Stderr)
	return out
}

// errShown refuses to hand a secret to somebody who shows it.
func errShown(what string) error {
	return permanentError(codeInput, fermata.Errorf(fermata.CodeInvalidRequest, "%s would show a secret: people read it", what).
		WithHint("hand it to a tool such as http instead, or let the worker have it in its environment"))
}

// shows reports that a task would show a secret.
func (k secrets) shows(n fermata.NewTask) error {
	if k.isIn(fmt.Sprint(n.Title, "\n", n.Body)) || k.isIn(n.Spec) {
		return errShown("the task")
	}
	return nil
}
