package mcpserver

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// schema is a JSON Schema. The schemas are written by hand, so that every
// client accepts them. They have no lists of types and no references, and every
// array has the schema of its items.

type schema = map[string]any

func text(description string) schema {
	return schema{"type": "string", "description": description}
}

func oneOf(description string, values ...string) schema {
	return schema{"type": "string", "description": description, "enum": values}
}

func flag(description string) schema {
	return schema{"type": "boolean", "description": description}
}

func wholeNumber(description string, minimum, maximum int) schema {
	return schema{"type": "integer", "description": description, "minimum": minimum, "maximum": maximum}
}

func listOf(description string, items schema) schema {
	return schema{"type": "array", "description": description, "items": items}
}

func object(properties schema, required ...string) schema {
	o := schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// mergeSchemas returns the properties of several groups in one group.
func mergeSchemas(groups ...schema) schema {
	all := schema{}
	for _, g := range groups {
		for name, s := range g {
			all[name] = s
		}
	}
	return all
}

// optionSchema is the schema of an option. The server also accepts a plain text.
var optionSchema = object(schema{
	"label":       text("What the person picks: one to five words."),
	"value":       text("What you get back; the label when left out."),
	"description": text("One line: what this choice leads to."),
	"preview":     text("A snippet, diff or mock-up to compare the options by."),
	"recommended": flag("The one you would take."),
	"danger":      flag("Cannot be undone; never taken without a person."),
})

var questionIDSchema = text("The id that you got when you asked.")

var previewSchema = object(schema{
	"kind": oneOf("What it is.", "diff", "command", "table", "json", "text"),
	"text": text("The thing itself."),
}, "kind", "text")

var assigneesSchema = listOf("Who may answer: handle, group:NAME or role:NAME. Anybody when left out.", schema{"type": "string"})

// askFields are the fields of a question.
var askFields = schema{
	"question": text("The one thing you ask, in one sentence. For several use questions."),
	"options":  listOf(fmt.Sprintf("The choices, at most %d; better no more than four. Leave it out for a free answer.", fermata.MaxOptions), optionSchema),
	"questions": listOf(fmt.Sprintf("Questions that are answered together, at most %d; better no more than four.", fermata.MaxItems), object(schema{
		"question":    text("The question, in one sentence."),
		"header":      text(fmt.Sprintf("A label of one or two words, at most %d characters.", fermata.MaxHeader)),
		"options":     listOf("The choices, as in options. The person can write something else, unless other is false.", optionSchema),
		"other":       flag("The person may answer in their own words. True when left out."),
		"multiSelect": flag("Several options may be chosen."),
	}, "question")),
	"response_type": oneOf("Form of the answer to question; choice where there are options, else text.",
		"text", "choice", "multi_choice", "boolean", "number", "date"),
	"other":   flag("The person may answer in their own words beside the options. True when left out."),
	"default": text("What is taken when nobody answers in time: the value of an option, or the answer as text."),
	"type": oneOf("blocking, the default, when you must stop; non_blocking, with a default, when you can go on; error_recovery after an error.",
		"blocking", "non_blocking", "error_recovery"),
	"title": text(fmt.Sprintf("Headline of at most %d characters; the question when left out.", fermata.MaxTitle)),
	"body":  text("What the person needs to know, in Markdown. Short."),
	"context": object(schema{
		"text":    text("What the person needs to know, in plain words. A text in place of this object is this."),
		"step":    text("What you are doing."),
		"error":   text("The error that stopped you."),
		"preview": previewSchema,
	}),
	"assignees":       assigneesSchema,
	"timeout":         text("How long people have: 30m, 36h, 3d or never."),
	"on_timeout":      oneOf("What happens then.", "default", "skip", "fail"),
	"priority":        wholeNumber("0 is the highest, 4 the lowest.", 0, 4),
	"confidence":      wholeNumber("How sure you are of your own default, in percent.", 0, 100),
	"risk":            riskSchema,
	"idempotency_key": text("A call with the same key returns the same question."),
	"dedupe_key":      text("A name for what you ask; asking it again while it is open adds no second card."),
}

var riskSchema = oneOf("How much harm a wrong answer can do.", "low", "medium", "high", "critical")

// workflowFields are fields of a question by the names that workflows use.
var workflowFields = schema{
	"timeoutHours":  schema{"type": "number", "description": "timeout in hours."},
	"timeoutAction": oneOf("The same as on_timeout.", "default", "skip", "fail"),
	"defaultAnswer": text("The same as default."),
	"issueNumber":   schema{"type": "integer", "description": "The issue that this is about, in the repository of the GitHub channel. With notifyVia github it is asked there.", "minimum": 1},
	"notifyVia": listOf("Over which channels to tell people at once, by name or kind: inbox, slack, email, github … Every question is in the inbox.",
		schema{"type": "string"}),
	"slackChannel": text("The Slack conversation for it: #name or id. People are told there, not each by themselves."),
	"slackMention": text("Who is mentioned there: @handle of a member, a Slack id, here or channel; several with commas."),
	"emailRecipients": listOf("To whom mail goes: addresses of members who may answer. Everybody who may when left out.",
		schema{"type": "string"}),
}

// approvalFields are the fields of an approval.
var approvalFields = schema{
	"tool":      text("The tool that you want to call."),
	"arguments": schema{"type": "object", "description": "Its arguments, exactly as you will send them.", "additionalProperties": true},
	"command":   text("Instead of a tool: the command, exactly as it will run."),
	"title":     text(fmt.Sprintf("Headline of at most %d characters.", fermata.MaxTitle)),
	"reason":    text("Why, and what follows, in Markdown. Short."),
	"preview":   previewSchema,
	"risk":      riskSchema,
	"assignees": assigneesSchema,

	"approvals_required": wholeNumber("How many people must approve.", 1, 50),
	"timeout":            text("How long people have: 30m, 36h, 3d or never. Nobody's answer is a no."),
	"idempotency_key":    text("A call with the same key returns the same question."),
}

var progressFields = schema{
	"message": text("What you did, or do next, in one sentence."),
	"step":    text("The step that you are in."),
	"current": schema{"type": "number", "description": "How far you are."},
	"total":   schema{"type": "number", "description": "Of how much."},
}

// placementFields are the fields that say where a question belongs.
var placementFields = schema{
	"task_id": text("The task that asks; known already when a worker has started you."),
	"project": text("The project of a question outside any task."),
}

var waitFields = schema{
	"wait_seconds": wholeNumber("Wait so long for the answer: 300 where a person sits near you. 0, the default, returns at once.", 0, maxWaitSeconds),
}
