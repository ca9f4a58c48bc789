package config

import "time"

// MCP holds the options of `fermata mcp`.
type MCP struct {
	// URL and Token are the server to use, after `fermata login` was considered. Configured reports whether the user
	// named it. If not, and none listens at Listen, the command starts one.
	URL        string `kong:"-"`
	Token      string `kong:"-"`
	Configured bool   `kong:"-"`
	// Task is the task that the questions belong to, and RunID is the run of it that calls. If there is no task,
	// Session is the agent's session, and OtherSession is the session of an agent that names none.
	Task         string `env:"FERMATA_TASK" placeholder:"ID" help:"Task that questions belong to; without one they go to a task of the agent's session."`
	RunID        string `name:"run" env:"FERMATA_RUN" placeholder:"ID" help:"Run of that task; once it is over, nothing more of it may run."`
	Session      string `env:"FERMATA_SESSION" placeholder:"KEY" help:"Name of the agent's session (default: what the agent tells)."`
	OtherSession string `kong:"-"`
	Project      string `env:"FERMATA_PROJECT" placeholder:"NAME" help:"Project of questions outside any task."`
	AskTool      string `env:"FERMATA_ASK_TOOL" default:"ask_user" placeholder:"NAME" help:"Name of the tool ${default}, for an agent program that has one of that name: Gemini CLI without a terminal hides both."`
	Listen       string `env:"FERMATA_LISTEN" default:"127.0.0.1:7433" placeholder:"ADDRESS" help:"Where to look for a server, and to start one, when none is configured (default ${default})."`
	Data         string `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the server that is started when none is configured."`
	// ApproveWait is how long a permission prompt waits for a person; 0 does not wait.
	ApproveWait time.Duration `env:"FERMATA_APPROVE_WAIT" default:"10m" help:"How long a permission prompt waits for a person before it is denied for the time being; 0s does not wait."`
	LogLevel    string        `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"warn" help:"debug, info, warn or error."`
}
