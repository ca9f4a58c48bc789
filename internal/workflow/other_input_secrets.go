package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

var (
	secretPlaceholder = lazyregexp.New(`\[secret ([A-Za-z_][A-Za-z0-9_]*)\]`)
	secretTemplate    = lazyregexp.New(`\{\{[^}]*\bsecrets\.[^}]*\}\}`)
)

// restoreSecrets returns another input with the secrets of the step. People see an input without its secrets, so what
// they change and give back has placeholders. In a field whose template uses secrets.NAME, [secret NAME] stands for the
// secret. In any other place the text may come from a tool, and the secret would go where the definition does not send
// it. There it is refused, because a tool would get the placeholder in place of a credential.
func (x *execution) restoreSecrets(step *definition.Step, input map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(input))
	for key, value := range input {
		var err error
		if out[key], err = x.restoreInValue(value, templateOfField(step.Input, key), key); err != nil {
			return nil, permanentError(codeInput, err)
		}
	}
	return out, nil
}

// restoreInValue restores the secrets in a part of another input. template is the same part of the definition.
func (x *execution) restoreInValue(v any, template definition.Value, path string) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return x.restoreInText(v, template, path)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			if out[i], err = x.restoreInValue(v[i], templateOfItem(template, i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if out[key], err = x.restoreInValue(value, templateOfField(template, key), path+"."+key); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// templateOfField returns the template of a field. An expression that gives the whole object is the template of each.
func templateOfField(template definition.Value, key string) definition.Value {
	if len(template.LocatedExpressions()) > 0 {
		return template
	}
	field, _ := template.Field(key)
	return field
}

// templateOfItem returns the template of an item. An expression that gives the whole list is the template of each.
func templateOfItem(template definition.Value, i int) definition.Value {
	if len(template.LocatedExpressions()) > 0 {
		return template
	}
	item, _ := template.Item(i)
	return item
}

func (x *execution) restoreInText(text string, template definition.Value, path string) (string, error) {
	if secretTemplate().MatchString(text) {
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "%s: another input is no template, so the tool would get the text {{ … }}", path).
			WithHint("write [secret NAME] where the definition has {{ secrets.NAME }}")
	}
	var usable []string
	for _, e := range template.LocatedExpressions() {
		for _, ref := range e.Refs() {
			if ref.Root == "secrets" && len(ref.Path) > 0 {
				usable = append(usable, ref.Path[0])
			}
		}
	}
	var failure error
	restored := secretPlaceholder().ReplaceAllStringFunc(text, func(placeholder string) string {
		name := secretPlaceholder().FindStringSubmatch(placeholder)[1]
		if slices.ContainsFunc(usable, func(other string) bool { return strings.EqualFold(other, name) }) {
			value, err := x.read(name)
			if err != nil {
				failure = err
			}
			return value
		}
		if x.isKnown(name) {
			failure = fermata.Errorf(fermata.CodeInvalidRequest, "%s: %s stands for the secret only where the definition has {{ secrets.%s }}", path, placeholder, name).
				WithHint("remove it there; or change the workflow, and move the run to it: fermata workflow move %s", x.run.ID)
		}
		return placeholder
	})
	return restored, failure
}
