package workflow

import (
	"errors"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// agentOutputFor returns the output of an agent. A text is its last message.
func (o *Outcome) agentOutputFor(step calledStep) (any, error) {
	text, isText := o.Output.(string)
	switch {
	case isText:
		output, err := readMessage(step, text)
		if err != nil {
			err = tool.MarkSafeToRetry(err)
		}
		return output, err
	case len(step.schema) > 0:
		if err := checkOutput(step.schema, o.Output, hintMessageOutput); err != nil {
			return nil, tool.MarkSafeToRetry(err)
		}
		return o.Output, nil
	}
	if _, isObject := o.Output.(map[string]any); isObject {
		return o.Output, nil
	}
	return withSummary(o.Output, ""), nil
}

// unknownOutputFor returns the output of a step with a schema whose tool is not known. A text is what the tool prints, or its
// last message: both are read in the same way.
func (o *Outcome) unknownOutputFor(step calledStep) (any, error) {
	if text, isText := o.Output.(string); isText {
		return readMessage(step, text)
	}
	return o.Output, checkOutput(step.schema, o.Output, hintMessageOutput)
}

// readMessage returns the output of a step whose agent ended with a text.
func readMessage(step calledStep, text string) (any, error) {
	output, err := ParseOutput(step.schema, nil, text)
	if err == nil {
		return output, nil
	}
	if refusal, ok := errors.AsType[*fermata.Error](err); ok && refusal.Hint != "" {
		err = refusal.WithHint("%s", hintMessageOutput)
	}
	return nil, &stepError{code: codeOutput, err: err}
}
