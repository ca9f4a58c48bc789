package ask

import (
	"cmp"
	"context"
	"os"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// Command is fermata ask: it asks a question and, if the caller wants, waits for the answer.
type Command struct {
	session.WriteFlags
	Question           string                `arg:"" optional:"" help:"What to ask."`
	Title              string                `help:"Headline, when the question itself is long."`
	Type               fermata.ResponseType  `enum:",text,choice,multi_choice,boolean,approval,number,date" default:"" placeholder:"TYPE" help:"Form of the answer: text, choice, multi_choice, boolean, approval, number or date."`
	Kind               fermata.QuestionType  `enum:",blocking,non_blocking,approval,error_recovery" default:"" placeholder:"KIND" help:"blocking, non_blocking, approval or error_recovery."`
	Option             []string              `short:"o" sep:"none" placeholder:"VALUE[=LABEL]" help:"A choice; repeat it."`
	Recommend          []string              `name:"recommended" sep:"none" placeholder:"VALUE" help:"Mark an option as recommended."`
	Danger             []string              `sep:"none" placeholder:"VALUE" help:"Mark an option as dangerous."`
	Multi              bool                  `help:"Several options may be chosen."`
	Other              *bool                 `help:"An answer that is not among the options is possible too."`
	Default            *string               `placeholder:"VALUE" help:"What is taken when nobody answers."`
	Timeout            fermata.Timeout       `placeholder:"30m" help:"How long to wait for people: 30m, 36h, 3d or never. A policy bounds it; unless it is changed, 5m is the least."`
	Via                []string              `placeholder:"CHANNEL" help:"Send it over this channel at once; repeat it."`
	Remind             []string              `placeholder:"10m" help:"Remind people so long after asking; repeat it."`
	ShareContext       bool                  `help:"Let the context be shown in public places, such as a GitHub issue."`
	OnTimeout          fermata.TimeoutAction `enum:",default,skip,fail,escalate" default:"" placeholder:"ONTIMEOUT" help:"What happens then: default, skip, fail or escalate."`
	AllowDangerDefault bool                  `help:"Let the deadline take a default that is dangerous. Nothing approves at a deadline."`
	Escalation         string                `placeholder:"JSON|@FILE" help:"Levels that an unanswered question goes through: [{\"assignees\":[\"bob\"],\"timeout\":\"1h\",\"on_timeout\":\"fail\"}]."`
	Items              string                `type:"path" placeholder:"FILE" help:"JSON file with a list of items, or with a whole request; - is standard input."`
	Body               string                `placeholder:"TEXT|@FILE" help:"More about it, in Markdown."`
	Context            string                `placeholder:"TEXT|@FILE" help:"Something to look at first: text, a diff, JSON."`
	ContextKind        string                `enum:",diff,command,table,json,text" default:"" placeholder:"KIND" help:"What the context is: diff, command, table, json or text (default: by the name of its file)."`
	Step               string                `placeholder:"TEXT" help:"What the asker was about to do."`
	Error              string                `placeholder:"TEXT|@FILE" help:"What went wrong."`
	Action             string                `placeholder:"JSON|@FILE" help:"For an approval: exactly what will run."`
	Approvals          *int                  `placeholder:"N" help:"For an approval: how many people must approve."`
	SelfApproval       bool                  `help:"For an approval: the person who asks may approve, too."`
	RejectAt           string                `enum:",first,majority" default:"" placeholder:"WHEN" help:"For an approval: it is rejected at the first rejection (default) or by a majority."`
	Assign             []string              `placeholder:"NAME" help:"Who may answer: handle, group:NAME or role:NAME."`
	Task               string                `env:"FERMATA_TASK" placeholder:"ID" help:"Task that asks; without one a task is made for the question."`
	Session            string                `placeholder:"KEY" help:"Join the questions of one session in one task."`
	Project            string                `help:"Project of the question."`
	Priority           *int                  `help:"0 (highest) to 4."`
	Risk               fermata.Risk          `enum:",low,medium,high,critical" default:"" placeholder:"RISK" help:"low, medium, high or critical."`
	CallbackURL        string                `name:"callback-url" placeholder:"URL" help:"Post the outcome there when the question closes, signed; needs a channel of the kind callback."`
	State              string                `placeholder:"JSON|TEXT|@FILE" help:"Given back with the question and its outcome as it is."`
	Metadata           map[string]string     `mapsep:"none" placeholder:"KEY=VALUE" help:"Facts to keep with it; repeat it."`
	Confidence         *int                  `placeholder:"0-100" help:"How sure the asker is of the default."`
	Key                string                `help:"Idempotency key: asking again with it asks nothing new."`
	RunID              string                `name:"run" placeholder:"ID" help:"Run of the task that asks: once it is over, it asks nothing more (default: FERMATA_RUN, in the task FERMATA_TASK)."`
	DedupeKey          string                `placeholder:"KEY" help:"Asking again with this key in the same task or session opens no second question while the first is open; it is counted there."`
	Wait               session.WaitFlag      `xor:"wait" help:"Wait for the answer and print it; --wait=10m gives up after that time."`
	NoWait             bool                  `name:"no-wait" xor:"wait" help:"Print the id and return at once (the default)."`
	// hasList reports whether the file of --items is a list of items, not a whole request.
	hasList bool
}

// Help returns the description and the examples that --help prints.
func (Command) Help() string {
	return `A file for --items holds a list of items, or a whole request as POST /v1/questions takes it. It is read as strictly as the server reads a body: an unknown or misspelt name is an error. What a flag and the file both say is an error, too: say it once.

Without --wait the id of the question is printed. With --wait only the answer is, and the exit code tells what happened: 0 answered or approved, 3 rejected or answered no (--type boolean), 7 timed out (a default is printed), 8 still pending, 9 cancelled. With --json the question is printed in each of these cases, and an error as {"error": …} on standard error.

Examples:

    fermata ask "Which name for the release?" --wait
    fermata ask "Where to?" -o staging -o prod="Production" --danger prod --wait
    if fermata ask "Delete the old logs?" --type boolean --timeout 30m --wait; then rm -r logs/old; fi
    fermata ask "Run it?" --type approval --action '{"command":"rm -r old"}' --approvals 2 --wait=10m
    fermata ask --items request.json --timeout 2h --wait
    fermata ask "Look at this" --context @change.diff --session "$SESSION"`
}

// Run runs the command.
func (c *Command) Run(ctx context.Context, s *session.Session) error {
	o, err := c.request(s)
	if err != nil {
		return err
	}
	outside, err := c.isOutside(o)
	if err != nil {
		return err
	}
	path, body := "/questions", any(o)
	if !outside {
		if c.Task == os.Getenv("FERMATA_TASK") {
			// In a run, a program asks, not a person.
			o.RunID = cmp.Or(o.RunID, os.Getenv("FERMATA_RUN"))
		}
		path, body = "/tasks/"+c.Task+"/questions", o.Ask
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", path, body); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	var q *fermata.Question
	if outside {
		q, err = server.AskOutside(ctx, o)
	} else {
		q, err = server.Ask(ctx, c.Task, o.Ask)
	}
	if err != nil {
		return c.nameFlags(s, err)
	}
	if q.AskCount > 1 {
		s.PrintDone(q.WorkspaceID, "asked before, and still open: %s, %s", q.ID, terminal.OneLine(q.Title))
	} else {
		s.PrintDone(q.WorkspaceID, "asked %s", q.ID)
	}
	if q.UnreachedReason != "" {
		s.Stderr().Line("nobody is notified of the question; it is only in the inbox: %s", terminal.OneLine(q.UnreachedReason))
	}
	if c.Wait.IsSet {
		return awaitAnswer(ctx, s, q, c.Wait.Limit)
	}
	if s.JSON {
		return s.WriteJSON(q)
	}
	s.Stdout().Line("%s", q.ID)
	return nil
}

// isOutside reports whether the question belongs to no task. A session or a project has precedence over the task of a
// worker's environment, but not over a task that the person names.
func (c *Command) isOutside(o client.OutsideQuestion) (bool, error) {
	if o.DedupeKey != "" && o.Session == "" && (c.Task == "" || o.Project != "") {
		return false, fermata.Errorf(fermata.CodeInvalidRequest, "--dedupe-key finds what the same task or session has asked, and this question has a task of its own").
			WithHint("put the questions of one source into one session: --session KEY; or ask once with --key")
	}
	hasSessionOrProject := o.Session != "" || o.Project != ""
	if hasSessionOrProject && c.Task != "" && c.Task != os.Getenv("FERMATA_TASK") {
		return false, fermata.Errorf(fermata.CodeInvalidRequest, "--task names the task that asks; its project and its session are the task's").
			WithHint("leave out either --task or the session and the project")
	}
	return hasSessionOrProject || c.Task == "", nil
}
