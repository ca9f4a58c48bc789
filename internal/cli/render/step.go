package render

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// StepName returns the name of a step, with its occurrence and its item if
// there are several.
func StepName(step *fermata.WorkflowStep) string {
	name := terminal.OneLine(step.Step)
	if step.Occurrence > 1 {
		name += fmt.Sprintf(" #%d", step.Occurrence)
	}
	if step.Item != nil {
		name += fmt.Sprintf("[%d]", *step.Item)
	}
	return name
}
