package definition_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// The context of a question in a workflow may be a text or an object, as in
// every other place.
func TestContextOfAQuestionMayBeText(t *testing.T) {
	t.Parallel()
	for _, context := range []string{`"The fence is bare."`, `{text: "The fence is bare.", step: paint}`} {
		source := "name: ask\ntriggers: [{manual: true}]\nsteps:\n  - {id: q, tool: post_question, suspend: true, input: {question: Which colour?, context: " + context + "}}\n"
		if _, problems := definition.Load([]byte(source), definition.Catalog{}); len(problems) > 0 {
			t.Errorf("%s: %v", context, problems)
		}
	}
}
