package rehearsal

import "github.com/fermata-hq/fermata/internal/scriptedmodel"

// The two tasks of a rehearsal. Their titles are in what the agent is told, and so
// tell the script which of them it plays.
const (
	askTitle   = "Rehearse a question"
	deferTitle = "Rehearse a call that is put off"
)

// colour is the answer to either question. Neither title has it in it.
const colour = "vermilion"

// Names of rules, which say how far the agent came.
const (
	asked    = "asked"
	answered = "answered"
	deferred = "deferred"
	returned = "returned"
	wentOn   = "went on"
)

// Script is what the model says to an agent program: it asks as its first deed,
// once with Fermata's tool, and once with its own where the runner can put that call
// off. If it is not stopped then, the next reply never comes.
func Script(program string) scriptedmodel.Script {
	first := 0
	type object = map[string]any
	options := []object{{"label": colour, "description": "A red."}, {"label": "viridian", "description": "A green."}}
	say := scriptedmodel.Say("The rehearsal is over: " + colour + ".")
	tool := "~ask_user"
	if program == "gemini" {
		tool = "~ask_person" // it hides every tool called ask_user when there is no terminal
	}
	return scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: answered, When: scriptedmodel.When{Any: askTitle, Last: "Answered by"}, Reply: say},
		{Name: returned, When: scriptedmodel.When{Any: deferTitle, Last: colour}, Reply: say},
		{Name: asked, When: scriptedmodel.When{Any: askTitle, Turn: &first}, Reply: []scriptedmodel.Part{
			{Text: "I ask."}, scriptedmodel.Call(tool, object{"question": "Which colour?", "options": options}),
		}},
		{Name: deferred, When: scriptedmodel.When{Any: deferTitle, Turn: &first}, Reply: []scriptedmodel.Part{
			{Text: "I ask in my own way."}, scriptedmodel.Call(ownQuestion, object{"questions": []object{{
				"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": options,
			}}}),
		}},
		{Name: wentOn, Hold: true, Reply: scriptedmodel.Say("Nothing stopped the agent.")},
	}}
}

// ownQuestion is Claude Code's own tool for questions.
const ownQuestion = "AskUserQuestion"
