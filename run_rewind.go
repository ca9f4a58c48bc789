package fermata

// RunRewind is a request to send a run of a workflow back to a step.
type RunRewind struct {
	// Step is a main step that the run has begun. This step and all steps after it are done again as new occurrences.
	Step string `json:"step" doc:"a main step that the run has begun: it is done again, and what comes after it"`
	// Feedback is the reason, for the step. Expressions see it as run.feedback, and an agent reads it in its prompt.
	// It has at most the length of a message, and may be empty.
	Feedback string `json:"feedback,omitempty" doc:"why, for the step: expressions see it as run.feedback, and an agent in its prompt"`
	// Newest makes the run go on with the newest stored definition of the workflow.
	Newest bool `json:"newest,omitempty" doc:"go on with the newest definition; the steps that stay done must be the same there"`
}

// Check returns an error if there is no step, or if the feedback is not valid as the text of a message.
func (r RunRewind) Check() error {
	if r.Step == "" {
		return Invalid(Problem{Field: "step", Message: "is required: the step to which the run goes back"})
	}
	if r.Feedback == "" {
		return nil
	}
	return CheckMessage(r.Feedback)
}
