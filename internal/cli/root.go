package cli

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/internal/cli/access"
	"github.com/fermata-hq/fermata/internal/cli/answer"
	"github.com/fermata-hq/fermata/internal/cli/ask"
	"github.com/fermata-hq/fermata/internal/cli/audit"
	"github.com/fermata-hq/fermata/internal/cli/channel"
	"github.com/fermata-hq/fermata/internal/cli/chat"
	"github.com/fermata-hq/fermata/internal/cli/hook"
	"github.com/fermata-hq/fermata/internal/cli/inbox"
	"github.com/fermata-hq/fermata/internal/cli/install"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/workflow"
)

// groups are the headings of the help.
var groups = []kong.Group{
	{Key: "ask", Title: "Ask people"},
	{Key: "answer", Title: "Answer agents"},
	{Key: "task", Title: "Tasks"},
	{Key: "workflow", Title: "Workflows"},
	{Key: "look", Title: "Look on"},
	{Key: "gate", Title: "Gates"},
	{Key: "run", Title: "Run Fermata"},
	{Key: "access", Title: "Access"},
}

// root is the grammar of the command line.
type root struct {
	session.Globals

	Ask ask.Command `cmd:"" group:"ask" help:"Ask people a question."`

	Inbox   inbox.Command         `cmd:"" group:"answer" help:"Answer in a full-screen inbox, live."`
	Respond answer.RespondCommand `cmd:"" group:"answer" help:"Answer a question."`
	Approve answer.ApproveCommand `cmd:"" group:"answer" help:"Approve an action."`
	Reject  answer.RejectCommand  `cmd:"" group:"answer" help:"Reject an action."`
	Extend  extendCommand         `cmd:"" group:"answer" help:"Put the deadline of a question off."`
	Clarify clarifyCommand        `cmd:"" group:"answer" help:"Ask the agent back; the question stays open."`
	Undo    undoCommand           `cmd:"" group:"answer" help:"Take back an answer that was given with --undo."`
	Assign  assignCommand         `cmd:"" group:"answer" help:"Give a question to other people."`
	Snooze  snoozeCommand         `cmd:"" group:"answer" help:"Put a question off for yourself."`
	Comment commentCommand        `cmd:"" group:"answer" help:"Comment on a question without deciding it."`

	List    listCommand         `cmd:"" group:"task" help:"List tasks, or the questions that wait for an answer."`
	Show    showCommand         `cmd:"" group:"task" help:"Show a task or a question."`
	Tree    treeCommand         `cmd:"" group:"task" help:"Show a task and all below it."`
	Create  createCommand       `cmd:"" group:"task" help:"Make a task."`
	Message chat.MessageCommand `cmd:"" group:"task" help:"Write into a task's thread."`
	Chat    chat.Command        `cmd:"" group:"task" help:"Talk in a task's thread, live."`
	Cancel  cancelCommand       `cmd:"" group:"task" help:"Cancel a task or withdraw a question."`
	Defer   deferCommand        `cmd:"" group:"task" help:"Put a task off."`
	Pause   pauseCommand        `cmd:"" group:"task" help:"Halt a task, to take its session over; fermata resume hands it back."`
	Reopen  reopenCommand       `cmd:"" group:"task" help:"Open a task that has ended."`
	Resume  resumeCommand       `cmd:"" group:"task" help:"Let a task go on without waiting."`

	Workflow workflow.Command `cmd:"" group:"workflow" help:"Automations in YAML: check, store, run, follow and test them."`

	Log    logCommand           `cmd:"" group:"look" help:"Print what an agent printed."`
	Watch  audit.WatchCommand   `cmd:"" group:"look" help:"Show what happens as it happens."`
	Events audit.EventsCommand  `cmd:"" group:"look" help:"List what happened."`
	Audit  audit.Command        `cmd:"" group:"look" help:"Search, export and verify the record of what happened."`
	Proof  audit.ReceiptCommand `cmd:"" name:"receipt" group:"look" help:"The signed receipt of a decision: print it, check it anywhere."`
	Stats  analyticsCommand     `cmd:"" name:"analytics" group:"look" help:"How quickly people answer, what times out, what is asked most."`
	Doctor doctorCommand        `cmd:"" group:"look" help:"Check that everything is in order."`

	Serve      serveCommand      `cmd:"" group:"run" help:"Run the server."`
	Worker     workerCommand     `cmd:"" group:"run" help:"Claim tasks and run agents."`
	MCP        mcpCommand        `cmd:"" name:"mcp" group:"run" help:"Let an agent ask through the Model Context Protocol."`
	Migrate    migrateCommand    `cmd:"" group:"run" help:"Bring the database to this version."`
	Keys       keysCommand       `cmd:"" group:"run" help:"Make new master keys, which seal the secrets in the database."`
	Retention  retentionCommand  `cmd:"" group:"run" help:"Show how long ended work is kept, and what was removed."`
	AcceptLoss acceptLossCommand `cmd:"" name:"accept-loss" group:"run" help:"Go on with a database that is behind what was acknowledged."`
	Demo       demoCommand       `cmd:"" group:"run" help:"Show one question from start to end."`

	Gate  gateCommand  `cmd:"" group:"gate" help:"Rules for the tools that agents use."`
	Hook  hook.Command `cmd:"" group:"gate" help:"What agents call before they use a tool."`
	Grant grantCommand `cmd:"" group:"gate" help:"Check that what is about to run was approved."`

	Install install.Command `cmd:"" group:"gate" help:"Set an agent program up for a person's desk."`

	Login         access.LoginCommand         `cmd:"" group:"access" help:"Store the server and the token to use."`
	Logout        access.LogoutCommand        `cmd:"" group:"access" help:"Remove the stored token of a server."`
	Channels      channel.Command             `cmd:"" name:"channel" group:"access" help:"Where questions reach people: Slack, e-mail, GitHub, webhooks."`
	Deliveries    channel.DeliveriesCommand   `cmd:"" group:"access" help:"What was sent, what waits, and what could not be sent."`
	Notifications access.NotificationsCommand `cmd:"" group:"access" help:"How you want to be reached: quiet hours, digest."`
	Tokens        access.TokenCommand         `cmd:"" name:"token" group:"access" help:"Make, list and revoke tokens."`
	Policy        access.PolicyCommand        `cmd:"" group:"access" help:"What agents may ask for: deadlines, reminders, confidence, sign-in."`
	Members       access.MemberCommand        `cmd:"" name:"member" group:"access" help:"Add, invite, change and list people."`
	Completion    completionCommand           `cmd:"" group:"access" help:"Print a script that completes commands in a shell."`
	Names         namesCommand                `cmd:"" hidden:"" group:"access" help:"Print names for the completion of a shell."`
	Ver           versionCommand              `cmd:"" name:"version" group:"access" help:"Print the version."`
}

// commandNamed returns the option that adds a command to a grammar, or nil if no command has the name.
func (r *root) commandNamed(name string) kong.Option {
	fields := reflect.ValueOf(r).Elem()
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		_, isCommand := field.Tag.Lookup("cmd")
		if isCommand && cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) == name {
			return kong.DynamicCommand(name, field.Tag.Get("help"), field.Tag.Get("group"), fields.Field(i).Addr().Interface())
		}
	}
	return nil
}
