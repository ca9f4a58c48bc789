package workflow

import (
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// builtInTools lists the tools of the workflow engine itself.
var builtInTools = []tool.Info{
	{Name: toolQuestion, Description: "Asks people a question; with suspend the run waits for the answer.", Input: definition.ToolInput(toolQuestion)},
	{Name: toolApproval, Description: "Asks people to approve or reject; the run waits.", Input: definition.ToolInput(toolApproval)},
	{Name: toolAgent, Description: "A task for an agent, which a worker runs.", Input: definition.ToolInput(toolAgent)},
	{Name: toolShell, Description: "A command in the run's working copy, which a worker runs.", Input: definition.ToolInput(toolShell)},
	{Name: toolWait, Description: "Waits for a time.", Input: definition.ToolInput(toolWait), Check: checkWait},
	{Name: toolWorkflow, Description: "A run of another workflow; the run waits for its end.", Input: definition.ToolInput(toolWorkflow)},
}

// builtInByName holds builtInTools by name.
var builtInByName = infosByName(builtInTools)
