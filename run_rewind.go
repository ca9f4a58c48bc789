package fermata

// RunRewind says how a run of a workflow goes back.
type RunRewind struct {
	// Step is a main step that the run has begun. It is done again as a new occurrence, and what comes after it as well.
	Step string `json:"step" doc:"a main step that the run has begun: it is done again, and what comes after it"`
	// Feedback says why, for the step: expressions see it as run.feedback, and an agent reads it in its prompt. It is as long as a
	// message at most, and may be empty.
	Feedback string `json:"feedback,omitempty" doc:"why, for the step: expressions see it as run.feedback, and an agent in its prompt"`
	// Newest makes the run go on with the definition of the workflow that is stored now.
	Newest bool `json:"newest,omitempty" doc:"go on with the newest definition; the steps that stay done must be the same there"`
}

// Check refuses a rewind without a step, or with feedback that is no text of a message.
func (r RunRewind) Check() error {
	if r.Step == "" {
		return Invalid(Problem{Field: "step", Message: "is required: the step to which the run goes back"})
	}
	if r.Feedback == "" {
		return nil
	}
	return CheckMessage(r.Feedback)
}
