package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// checkInput returns an error if the tool of a step does not take its rendered input. It is the only such check, so that a
// test refuses what a server refuses. The rules of questions are not among it: posting.Read checks those.
func (x *execution) checkInput(step *definition.Step, row *fermata.WorkflowStep, input map[string]any) error {
	if asksPeople(step) {
		return nil
	}
	if err := x.checkToolInput(step.Tool, input); err != nil {
		return err
	}
	if describe := describeBuiltIn(step.Tool); describe != nil {
		return x.checkTask(describe, step, unit{row: row, input: input})
	}
	return nil
}

// checkToolInput returns an error if a tool does not take an input: its schema, or its own check.
func (x *execution) checkToolInput(name string, input map[string]any) error {
	info := x.s.infos[name]
	wrong, err := findMismatch(info.Input, input)
	if err == nil && wrong != nil {
		err = mismatchError(wrong, "input", inputHint(wrong, info.Name))
	}
	if err == nil && info.Check != nil {
		err = x.withoutMadeUpSecrets(input, info.Check(input))
	}
	if err != nil {
		return permanentError(codeInput, err)
	}
	return nil
}

// withoutMadeUpSecrets removes the problems of fields that hold a secret, if this is a test. A test has made up the value
// of the secret, so it says nothing about the value on a server.
func (x *execution) withoutMadeUpSecrets(input map[string]any, err error) error {
	var refusal *fermata.Error
	if x.s.Stub == nil || !errors.As(err, &refusal) || len(refusal.Problems) == 0 {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(refusal.Problems), func(p fermata.Problem) bool {
		field, _, _ := strings.Cut(p.Field, ".")
		return x.containsSecret(input[field])
	})
	if len(rest) == 0 {
		return nil
	}
	return fermata.Invalid(rest...).WithHint("%s", refusal.Hint)
}

// inputHint returns what to do about an input that does not fit the schema of its tool. Where a text is wanted, it says how
// to write another value as a text.
func inputHint(wrong error, name string) string {
	var mismatch *jsonschema.ValidationError
	if errors.As(wrong, &mismatch) {
		for _, leaf := range mismatchLeaves(mismatch) {
			if k, ok := leaf.ErrorKind.(*kind.Type); ok && slices.Contains(k.Want, "string") && textRemedies[k.Got] != "" {
				return textRemedies[k.Got]
			}
		}
	}
	return fmt.Sprintf(hintInput, name)
}

// textRemedies say how to write a value of a JSON type as a text.
var textRemedies = map[string]string{
	"null":    `give a value for that case: {{ … ?? "" }}`,
	"object":  "write it as a text: {{ toJSON(…) }}",
	"array":   "write it as a text: {{ toJSON(…) }}",
	"number":  "write it as a text: {{ string(…) }}",
	"boolean": "write it as a text: {{ string(…) }}",
}
