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

// secrets holds the secrets that a definition names, and every other secret of the server. Nothing that a run stores or
// sends contains one of them, whichever process read the secret. A tool may return a secret long after the step that
// used it.
type secrets struct {
	read func(name string) (string, error)
	// forms are the ways in which the values are written, the longest first.
	forms []form
}

const (
	// shortestSecret is the shortest length of a secret that is hidden. A shorter one cannot be told from ordinary
	// text.
	shortestSecret = 4
	// shortestOther is the same limit for a secret that the definition does not name. There, a short one may be an
	// ordinary word.
	shortestOther = 8
)

type form struct{ text, name string }

// secretsOf reads the secrets of a definition. If one is missing, the step that uses it fails.
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

// mayUse returns an error if workflows of the project may not use the secret.
func (s *Service) mayUse(project, name string) *fermata.Error {
	if s.MayUseSecret == nil {
		return nil
	}
	return s.MayUseSecret(orDefault(project), name)
}

// hide replaces the secrets in a text by their names.
func (k secrets) hide(text string) string {
	for _, f := range k.forms {
		text = strings.ReplaceAll(text, f.text, "[secret "+f.name+"]")
	}
	return text
}

// isIn reports whether a value that will be shown contains a secret.
func (k secrets) isIn(v any) bool {
	if len(k.forms) == 0 {
		return false
	}
	plain := data(value(data(v)))
	return string(k.storedJSON(plain)) != string(plain)
}

// storedJSON returns the JSON of a value as it is stored, without secrets.
func (k secrets) storedJSON(v any) json.RawMessage {
	doc := data(v)
	if len(k.forms) == 0 {
		return doc
	}
	return data(k.hideIn(value(doc)))
}

// hideIn replaces the secrets in all texts of a value, and keeps its structure.
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

// hideInText returns a text for events, questions and people: without the secrets, and without text that looks like
// one.
func (k secrets) hideInText(text string) string {
	safe, _ := redact.Text(k.hide(text))
	return safe
}

// describe converts an error of a step to its wire form, without secrets.
func (k secrets) describe(err error) *fermata.StepError {
	out := describe(err)
	out.Message, out.Hint = k.hideInText(out.Message), k.hideInText(out.Hint)
	out.Stdout, out.Stderr = k.hideInText(out.Stdout), k.hideInText(out.Stderr)
	return out
}

// errShown returns the error for a secret in a place where people read it.
func errShown(what string) error {
	return permanentError(codeInput, fermata.Errorf(fermata.CodeInvalidRequest, "%s would show a secret: people read it", what).
		WithHint("hand it to a tool such as http instead, or let the worker have it in its environment"))
}

// shows returns an error if a task would show a secret.
func (k secrets) shows(n fermata.NewTask) error {
	if k.isIn(fmt.Sprint(n.Title, "\n", n.Body)) || k.isIn(n.Spec) {
		return errShown("the task")
	}
	return nil
}
