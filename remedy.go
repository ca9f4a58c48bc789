package fermata

import "encoding/json"

// Keys of the items of the question that a workflow asks about a failed step.
const (
	RemedyKey      = "action"
	RemedyInputKey = "input"
)

// Answers to the question about a failed step.
const (
	// RemedyRetry does the step again.
	RemedyRetry = "retry"
	// RemedyRetryWithInput does the step again with the input that the answer has under [RemedyInputKey].
	RemedyRetryWithInput = "retry_with_input"
	// RemedySkip leaves the step out, and the run goes on.
	RemedySkip = "skip"
	// RemedyAbort ends the run as failed.
	RemedyAbort = "abort"
)

// offersOtherInput reports whether the question is about a failed step for which people may give another input.
func (q *Question) offersOtherInput() bool {
	action := q.Item(RemedyKey)
	if q.Type != ErrorRecovery || action == nil || q.Item(RemedyInputKey) == nil {
		return false
	}
	_, offered := action.Option(RemedyRetryWithInput)
	return offered
}

// checkRemedy checks the answer to a question about a failed step: another input is a JSON object, and it is given only
// with [RemedyRetryWithInput].
func (q *Question) checkRemedy(answers map[string]any) error {
	if !q.offersOtherInput() {
		return nil
	}
	const field = "answers." + RemedyInputKey
	text, given := answers[RemedyInputKey].(string)
	if answers[RemedyKey] != RemedyRetryWithInput {
		if given {
			return Invalid(Problem{Field: field, Message: "is used only with " + RemedyRetryWithInput}).
				WithHint("choose %s, or leave the input out", RemedyRetryWithInput)
		}
		return nil
	}
	var input map[string]any
	if err := json.Unmarshal([]byte(text), &input); err != nil || input == nil {
		return Invalid(Problem{Field: field, Message: `must be a JSON object, such as {"run": "make test"}`}).
			WithHint("give the whole input of the step; the preview of the question shows the input with which it failed")
	}
	return nil
}

// checkMayGiveInput refuses another input for a failed step from a person whose role does not let them change the
// workflow. The other input replaces what the definition says and what people approved.
func (q *Question) checkMayGiveInput(answers map[string]any, c Caller) error {
	if !q.offersOtherInput() || answers[RemedyKey] != RemedyRetryWithInput {
		return nil
	}
	if c.checkRole(ToDefineWorkflow.row, InProject(q.Project)) == nil {
		return nil
	}
	return Errorf(CodeForbidden, "only operators of the project may give the step another input").
		WithHint("answer %s, %s or %s, or ask an operator to answer", RemedyRetry, RemedySkip, RemedyAbort)
}
