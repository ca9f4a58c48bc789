package agentcheck

import "github.com/fermata-hq/fermata/internal/scriptedmodel"

// The titles of the tasks of an agent check. The agent sends them to the model, so the script recognizes its task by
// them.
const (
	askTitle   = "Check a question"
	deferTitle = "Check a deferred call"
	denyTitle  = "Check a denied call"
)

// colour is the answer to both questions. It occurs in no title.
const colour = "vermilion"

// Names of rules. They show how far the agent came.
const (
	ruleAsked    = "asked"
	ruleAnswered = "answered"
	ruleDeferred = "deferred"
	ruleReturned = "returned"
	ruleDenied   = "denied"
	ruleGaveUp   = "gave up"
	ruleWentOn   = "went on"
)

// Script returns the replies of the model to an agent program. The model asks in its first turn: once with Fermata's
// tool, and once with the program's own tool, if the runner can defer that call. If the agent is not stopped then, the
// next reply is held back for ever.
func Script(program string) scriptedmodel.Script {
	first := 0
	type object = map[string]any
	options := []object{{"label": colour, "description": "A red."}, {"label": "viridian", "description": "A green."}}
	say := scriptedmodel.Say("The agent check is over: " + colour + ".")
	tool := "~ask_user"
	if program == "gemini" {
		tool = "~ask_person" // without a terminal, gemini hides every tool called ask_user
	}
	return scriptedmodel.Script{Rules: append(deniedRules(program), []scriptedmodel.Rule{
		{Name: ruleAnswered, When: scriptedmodel.When{Any: askTitle, Last: "Answered by"}, Reply: say},
		{Name: ruleReturned, When: scriptedmodel.When{Any: deferTitle, Last: colour}, Reply: say},
		{Name: ruleAsked, When: scriptedmodel.When{Any: askTitle, Turn: &first}, Reply: []scriptedmodel.Part{
			{Text: "I ask."}, scriptedmodel.Call(tool, object{"question": "Which colour?", "options": options}),
		}},
		{Name: ruleDeferred, When: scriptedmodel.When{Any: deferTitle, Turn: &first}, Reply: []scriptedmodel.Part{
			{Text: "I ask in my own way."}, scriptedmodel.Call(ownQuestion, object{"questions": []object{{
				"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": options,
			}}}),
		}},
		{Name: ruleWentOn, Hold: true, Reply: scriptedmodel.Say("Nothing stopped the agent.")},
	}...)}
}

// deniedFile is the file that the agent would create if the rule did not deny everything.
const deniedFile = "denied.txt"

// deniedCalls returns calls of the program that act: a command, a file, the network.
func deniedCalls(program string) []scriptedmodel.Part {
	type object = map[string]any
	const command, page = "touch " + deniedFile, "http://127.0.0.1:9/"
	call := scriptedmodel.Call
	switch program {
	case "codex":
		return []scriptedmodel.Part{call("exec_command", object{"cmd": command}), call("exec_command", object{"cmd": "curl " + page})}
	case "gemini":
		return []scriptedmodel.Part{
			call("run_shell_command", object{"command": command, "description": "x"}),
			call("write_file", object{"file_path": deniedFile, "content": "x"}), call("web_fetch", object{"prompt": "Read " + page}),
		}
	case "opencode":
		return []scriptedmodel.Part{
			call("bash", object{"command": command, "description": "x"}), call("write", object{"filePath": deniedFile, "content": "x"}),
			call("webfetch", object{"url": page, "format": "text"}),
		}
	default:
		return []scriptedmodel.Part{
			call("Bash", object{"command": command, "description": "x"}), call("Write", object{"file_path": deniedFile, "content": "x"}),
			call("WebFetch", object{"url": page, "prompt": "x"}),
		}
	}
}

// deniedRules make the agent act in one way after the other, and then give up.
func deniedRules(program string) []scriptedmodel.Rule {
	var rules []scriptedmodel.Rule
	for n, call := range deniedCalls(program) {
		rules = append(rules, scriptedmodel.Rule{Name: ruleDenied, When: scriptedmodel.When{Any: denyTitle, Turn: &n}, Reply: []scriptedmodel.Part{call}})
	}
	return append(rules, scriptedmodel.Rule{Name: ruleGaveUp, When: scriptedmodel.When{Any: denyTitle}, Reply: scriptedmodel.Say("I may not.")})
}

// ownQuestion is Claude Code's own tool for questions.
const ownQuestion = "AskUserQuestion"
