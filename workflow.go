package fermata

import (
	"encoding/json"
	"time"
)

// Limits of workflows.
const (
	// MaxWorkflowSource is the length of a definition in bytes.
	MaxWorkflowSource = 256 << 10
	// MaxStepInput is the length of a step's input in bytes, as JSON.
	MaxStepInput = 4 << 20
	// MaxStepOutput is the length of a step's output in bytes, as JSON.
	MaxStepOutput = 1 << 20
	// MaxWebhook is the length of a webhook's body in bytes.
	MaxWebhook = 1 << 20
)

// Workflow is an automation whose steps the server runs (spec §6). Its runs
// are tasks of the runner [RunnerWorkflow].
type Workflow struct {
	WorkspaceID string `json:"workspace_id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Project     string `json:"project"`
	// Hash names the definition that new runs are pinned to.
	Hash     string            `json:"hash"`
	Source   string            `json:"source,omitempty" doc:"the definition as YAML; only where one workflow is read"`
	Enabled  bool              `json:"enabled" doc:"false: no trigger starts a run"`
	Triggers []WorkflowTrigger `json:"triggers"`
	Inputs   []WorkflowInput   `json:"inputs"`
	// Graph shows the steps; only where one workflow is read.
	Graph *WorkflowGraph `json:"graph,omitempty"`
	// Warnings are what the loader found odd, but not wrong.
	Warnings []DefinitionProblem `json:"warnings,omitempty"`
	// HasWebhookSecret says that requests to the webhook can be signed.
	HasWebhookSecret bool      `json:"has_webhook_secret"`
	UpdatedBy        Actor     `json:"updated_by"`
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
	// LastRun is the newest run; filled in where workflows are listed.
	LastRun *WorkflowRun `json:"last_run,omitempty"`

	// WebhookSecret signs what comes to the webhook; it is shown once.
	WebhookSecret string `json:"-"`
}

// WorkflowTrigger is what starts runs.
type WorkflowTrigger struct {
	Type TriggerType `json:"type" enum:"label_added,deployment,schedule,webhook,manual,event"`
	// Text says the rest: the label, the environment, the cron line with its zone, the event type.
	Text string `json:"text,omitempty"`
	// NextAt is when a schedule starts the next run.
	NextAt *time.Time `json:"next_at,omitempty"`
	// URL is where a webhook is called.
	URL string `json:"url,omitempty"`
}

// TriggerType names what started a run.
type TriggerType string

// Types of triggers. A run that another run started has the type workflow.
const (
	TriggerLabel      TriggerType = "label_added"
	TriggerDeployment TriggerType = "deployment"
	TriggerSchedule   TriggerType = "schedule"
	TriggerWebhook    TriggerType = "webhook"
	TriggerManual     TriggerType = "manual"
	TriggerEvent      TriggerType = "event"
	TriggerWorkflow   TriggerType = "workflow"
)

// WorkflowInput is a typed parameter of a workflow.
type WorkflowInput struct {
	Name        string `json:"name"`
	Type        string `json:"type" enum:"string,number,boolean,object,array"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"`
	Default     any    `json:"default,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
}

// WorkflowGraph is the steps of a definition and what leads where.
type WorkflowGraph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is a step, or the start or the end.
type GraphNode struct {
	ID   string `json:"id"`
	Kind string `json:"kind" enum:"start,step,question,child,timeout,end"`
	Tool string `json:"tool,omitempty"`
	// Phase is the list of the definition in which the step stands; empty for steps.
	Phase string `json:"phase,omitempty" enum:"on_success,on_failure,finally" doc:"the list in which the step stands; absent for steps"`
	// Condition is the text of the step's condition.
	Condition string `json:"condition,omitempty"`
}

// GraphEdge leads from one node to another.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Label says when: next, answered, rejected, timed out, or an option.
	Label string `json:"label,omitempty"`
	Back  bool   `json:"back,omitempty" doc:"leads to an earlier step"`
}

// DefinitionProblem is one thing that is wrong with a definition.
type DefinitionProblem struct {
	// Line and Column count from 1.
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Excerpt is the line with a caret below the column.
	Excerpt string `json:"excerpt,omitempty"`
	// Warning says that the definition can run nevertheless.
	Warning bool `json:"warning,omitempty"`
}

// NamedTool is a tool that a workspace has defined: a prompt for an agent, a
// command, or a server of tools.
type NamedTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Agent, Command and Server: exactly one of them is set.
	Agent   *AgentTool  `json:"agent,omitempty"`
	Command []string    `json:"command,omitempty" maxItems:"200" doc:"a program and its arguments, with templates; a worker runs it"`
	Server  *ToolServer `json:"server,omitempty" doc:"an MCP server; its tools are called name.tool"`
	// Schema is the JSON Schema that the output must fit.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Timeout is how long one call may take, such as 30m.
	Timeout string `json:"timeout,omitempty"`
	// Isolated says that only a worker which isolates its agents may run the tool.
	Isolated bool `json:"isolated,omitempty"`
	// Listing is what a server said of its tools when it was last asked.
	Listing   *ToolListing `json:"listing,omitempty" doc:"the tools of an MCP server, as it listed them last"`
	UpdatedBy Actor        `json:"updated_by"`
	UpdatedAt time.Time    `json:"updated_at"`
}

// AgentTool is a task for an agent.
type AgentTool struct {
	Runner string `json:"runner,omitempty" doc:"claude, codex, opencode, gemini, acp, command; empty: whichever worker comes"`
	Agent  string `json:"agent,omitempty" doc:"the role it is for"`
	Prompt string `json:"prompt" minLength:"1" maxLength:"65536" doc:"Markdown with templates"`
	Size   string `json:"size,omitempty" enum:"small,medium,large"`
}

// ToolServer is an MCP server: a command that the server starts, or an
// address. Values env:NAME are read from the server's environment.
type ToolServer struct {
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// ToolListing is the answer of an MCP server that was asked for its tools.
type ToolListing struct {
	At time.Time `json:"at" doc:"when it was asked"`
	// Tools are those of the last time when it did answer.
	Tools []ToolInfo `json:"tools"`
	Error string     `json:"error,omitempty" doc:"why it did not answer"`
}

// ToolInfo describes a tool that steps may name.
type ToolInfo struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Kind        string          `json:"kind" enum:"built_in,agent,command,server"`
	Input       json.RawMessage `json:"input,omitempty" doc:"JSON Schema"`
	Output      json.RawMessage `json:"output,omitempty" doc:"JSON Schema"`
	// Idempotent says that two calls with one key have the effect of one: a step without retry is tried again.
	Idempotent bool `json:"idempotent,omitempty"`
	// Error is why the tools of a server are not known.
	Error string `json:"error,omitempty"`
}
