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
// sends contains one of them, also if another process read the secret. A tool may return a secret long after the step that
// used it.
type secrets struct {
	read func(name string) (string, error)
	// forms are the encoded forms of the secrets to search for, such as JSON and URL encoding, the longest first.
	forms []form
}

const (
	// minSecretLength is the shortest length of a secret that is hidden. A shorter one cannot be distinguished from
	// ordinary text.
	minSecretLength = 4
	// minOtherSecretLength is the same limit for a secret that the definition does not name. There, a short one may be an
	// ordinary word.
	minOtherSecretLength = 8
)

// form is a text to search for, with the name of its secret in upper case, however a definition spells it.
type form struct{ text, name string }

// secretsOf reads the secrets of a definition. If one is missing, the step that uses it fails.
func (s *Service) secretsOf(d *definition.Workflow) secrets {
	known := secrets{read: func(name string) (string, error) {
		if err := s.checkSecretUse(d.Project, name); err != nil {
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
		if err != nil || len(v) < minSecretLength || i >= len(d.Secrets) && len(v) < minOtherSecretLength {
			continue
		}
		quoted := string(encodeJSON(v))
		for _, text := range []string{v, quoted[1 : len(quoted)-1], url.QueryEscape(v), url.PathEscape(v)} {
			known.forms = append(known.forms, form{text, strings.ToUpper(name)})
		}
	}
	slices.SortStableFunc(known.forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	return known
}

// isKnown reports whether a text may be hidden as the secret of this name.
func (k secrets) isKnown(name string) bool {
	return slices.ContainsFunc(k.forms, func(f form) bool { return strings.EqualFold(f.name, name) })
}

// checkSecretUse returns an error if workflows of the project may not use the secret.
func (s *Service) checkSecretUse(project, name string) *fermata.Error {
	if s.CheckSecretUse == nil {
		return nil
	}
	return s.CheckSecretUse(projectOrDefault(project), name)
}

// hide replaces the secrets in a text by their names.
func (k secrets) hide(text string) string {
	for _, f := range k.forms {
		text = strings.ReplaceAll(text, f.text, "[secret "+f.name+"]")
	}
	return text
}

// containsSecret reports whether a value that will be shown contains a secret.
func (k secrets) containsSecret(v any) bool {
	if len(k.forms) == 0 {
		return false
	}
	plain := encodeJSON(decodeJSON(encodeJSON(v)))
	return string(k.storedJSON(plain)) != string(plain)
}

// storedJSON returns the JSON of a value as it is stored, without secrets.
func (k secrets) storedJSON(v any) json.RawMessage {
	doc := encodeJSON(v)
	if len(k.forms) == 0 {
		return doc
	}
	return encodeJSON(k.hideInValue(decodeJSON(doc)))
}

// hideInValue replaces the secrets in all texts of a value, and keeps its structure.
func (k secrets) hideInValue(v any) any {
	switch v := v.(type) {
	case string:
		return k.hide(v)
	case []any:
		for i := range v {
			v[i] = k.hideInValue(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[k.hide(key)] = k.hideInValue(one)
		}
		return out
	}
	return v
}

// hideInText returns a text for events, questions and people: without the secrets, and without text that looks like a
// secret.
func (k secrets) hideInText(text string) string {
	safe, _ := redact.Text(k.hide(text))
	return safe
}

// toSafeStepError converts an error of a step to its wire form, without secrets.
func (k secrets) toSafeStepError(err error) *fermata.StepError {
	out := toStepError(err)
	out.Message, out.Hint = k.hideInText(out.Message), k.hideInText(out.Hint)
	out.Stdout, out.Stderr = k.hideInText(out.Stdout), k.hideInText(out.Stderr)
	return out
}

// errExposesSecret returns the error for a secret in a place where people read it.
func errExposesSecret(what string) error {
	return permanentError(codeInput, fermata.Errorf(fermata.CodeInvalidRequest, "%s would show a secret: people read it", what).
		WithHint("hand it to a tool such as http instead, or let the worker have it in its environment"))
}

// checkExposure returns a [stepError] if a task would show a secret.
func (k secrets) checkExposure(n fermata.NewTask) error {
	if k.containsSecret(fmt.Sprint(n.Title, "\n", n.Body)) || k.containsSecret(n.Spec) {
		return errExposesSecret("the task")
	}
	return nil
}
