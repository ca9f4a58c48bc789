package fermata

import (
	"encoding/json"
	"time"
)

// Limits of workflows.
const (
	// MaxWorkflowSource is the maximum length of a definition, in bytes.
	MaxWorkflowSource = 256 << 10
	// MaxStepInput is the maximum length of a step's input, in bytes of JSON.
	MaxStepInput = 4 << 20
	// MaxStepOutput is the maximum length of a step's output, in bytes of JSON.
	MaxStepOutput = 1 << 20
	// MaxWebhookBody is the maximum length of a webhook's body, in bytes.
	MaxWebhookBody = 1 << 20
)

// Workflow is an automation whose steps the server runs
// (docs/inside/contract.md#workflows). Each of its runs is a task with the
// runner [RunnerWorkflow].
type Workflow struct {
	WorkspaceID string `json:"workspace_id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Project     string `json:"project"`
	// Hash names the definition that new runs use.
	Hash     string            `json:"hash"`
	Source   string            `json:"source,omitempty" doc:"the definition as YAML; only where one workflow is read"`
	Enabled  bool              `json:"enabled" doc:"false: no trigger starts a run"`
	Triggers []WorkflowTrigger `json:"triggers"`
	Inputs   []WorkflowInput   `json:"inputs"`
	// Graph shows the steps. It is set only when a single workflow is read.
	Graph *WorkflowGraph `json:"graph,omitempty"`
	// Warnings are oddities that the loader found. They are not errors.
	Warnings []DefinitionProblem `json:"warnings,omitempty"`
	// HasWebhookSecret reports whether requests to the webhook can be signed.
	HasWebhookSecret bool      `json:"has_webhook_secret"`
	UpdatedBy        Actor     `json:"updated_by"`
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
	// LastRun is the newest run. It is set only when workflows are listed.
	LastRun *WorkflowRun `json:"last_run,omitempty"`

	// WebhookSecret is the key for signatures of webhook requests. It is shown once.
	WebhookSecret string `json:"-"`
}

// WorkflowTrigger is a cause that starts runs.
type WorkflowTrigger struct {
	Type TriggerType `json:"type" enum:"label_added,deployment,schedule,webhook,manual,event"`
	// Text gives the details: the label, the environment, the cron line with
	// its zone, the event type, or [UnsignedWebhook].
	Text string `json:"text,omitempty"`
	// NextAt is the instant at which a schedule starts the next run.
	NextAt *time.Time `json:"next_at,omitempty"`
	// URL is the address of a webhook.
	URL string `json:"url,omitempty"`
}

// UnsignedWebhook is the text of a webhook that takes calls without a signature.
const UnsignedWebhook = "unsigned"

// TriggerType is the type of trigger that started a run.
type TriggerType string

// Types of triggers. A run that was started by another run has the type workflow.
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

// WorkflowCheck is the result of checking a definition.
type WorkflowCheck struct {
	// Name is the name in the file. It is empty if the definition cannot run.
	Name string `json:"name,omitempty"`
	// Valid reports whether the definition can run. There may still be warnings.
	Valid    bool                `json:"valid"`
	Problems []DefinitionProblem `json:"problems"`
	Graph    *WorkflowGraph      `json:"graph,omitempty"`
}

// WorkflowGraph shows the steps of a definition and the edges between them.
type WorkflowGraph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is a step, the start or the end.
type GraphNode struct {
	ID   string `json:"id"`
	Kind string `json:"kind" enum:"start,step,question,child,timeout,end"`
	Tool string `json:"tool,omitempty"`
	// Phase is the list of the definition that contains the step. It is empty
	// for the main list, steps.
	Phase string `json:"phase,omitempty" enum:"on_success,on_failure,finally" doc:"the list in which the step stands; absent for steps"`
	// Condition is the text of the step's condition.
	Condition string `json:"condition,omitempty"`
}

// GraphEdge is an edge from one node to another.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Label says when the edge is taken: next, answered, rejected, timed out, or an option.
	Label string `json:"label,omitempty"`
	Back  bool   `json:"back,omitempty" doc:"leads to an earlier step"`
}

// DefinitionProblem is one problem of a definition.
type DefinitionProblem struct {
	// Line and Column count from 1.
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Excerpt is the line with a caret below the column.
	Excerpt string `json:"excerpt,omitempty"`
	// Warning reports whether the definition can run in spite of the problem.
	Warning bool `json:"warning,omitempty"`
}

// NamedTool is a tool that a workspace has defined: a prompt for an agent, a
// command, or an MCP server.
type NamedTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Exactly one of Agent, Command and Server is set.
	Agent   *AgentTool  `json:"agent,omitempty"`
	Command []string    `json:"command,omitempty" maxItems:"200" doc:"a program and its arguments, with templates; a worker runs it"`
	Server  *ToolServer `json:"server,omitempty" doc:"an MCP server; its tools are called name.tool"`
	// Schema is the JSON Schema that the output must match.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Timeout is the maximum time of one call, such as 30m.
	Timeout string `json:"timeout,omitempty"`
	// Isolated reports whether only a worker that isolates its agents may run the tool.
	Isolated bool `json:"isolated,omitempty"`
	// Listing is the latest list of tools from an MCP server.
	Listing   *ToolListing `json:"listing,omitempty" doc:"the tools of an MCP server, as it listed them last"`
	UpdatedBy Actor        `json:"updated_by"`
	UpdatedAt time.Time    `json:"updated_at"`
}

// AgentTool is a tool that gives a task to an agent.
type AgentTool struct {
	Runner string `json:"runner,omitempty" doc:"claude, codex, opencode, gemini, acp, command; empty: any worker"`
	Agent  string `json:"agent,omitempty" doc:"the role it is for"`
	Prompt string `json:"prompt" minLength:"1" maxLength:"65536" doc:"Markdown with templates"`
	Size   string `json:"size,omitempty" enum:"small,medium,large"`
}

// ToolServer is an MCP server: a command that the server starts, or an address.
// A value env:NAME is read from the server's environment.
type ToolServer struct {
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// ToolListing is an MCP server's reply to a request for its tools.
type ToolListing struct {
	At time.Time `json:"at" doc:"when it was asked"`
	// Tools are the tools of the last reply that succeeded.
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
	// Idempotent reports whether two calls with the same key have the effect of
	// one. A step with such a tool is retried even if it has no retry setting.
	Idempotent bool `json:"idempotent,omitempty"`
	// Error says why the tools of a server are unknown.
	Error string `json:"error,omitempty"`
}
