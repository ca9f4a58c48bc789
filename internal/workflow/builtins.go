package workflow

import (
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// builtIns describe the tools of the engine itself.
var builtIns = []tool.Info{
	{Name: toolQuestion, Description: "Asks people a question; with suspend the run waits for the answer."},
	{Name: toolApproval, Description: "Asks people to approve or reject; the run waits."},
	{Name: toolAgent, Description: "A task for an agent, which a worker runs.", Input: definition.ToolInput(toolAgent)},
	{Name: toolShell, Description: "A command in the run's working copy, which a worker runs.", Input: definition.ToolInput(toolShell)},
	{Name: toolWait, Description: "Waits for a time.", Input: definition.ToolInput(toolWait)},
	{Name: toolWorkflow, Description: "A run of another workflow; the run waits for its end.", Input: definition.ToolInput(toolWorkflow)},
}

// builtIn are the same by name.
var builtIn = infos(builtIns)
