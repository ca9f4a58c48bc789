package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/notice"
)

type askCommand struct {
	write
	Question           string                `arg:"" optional:"" help:"What to ask."`
	Title              string                `help:"Headline, when the question itself is long."`
	Type               fermata.ResponseType  `enum:",text,choice,multi_choice,boolean,approval,number,date" default:"" placeholder:"TYPE" help:"Form of the answer: text, choice, multi_choice, boolean, approval, number or date."`
	Kind               fermata.QuestionType  `enum:",blocking,non_blocking,approval,error_recovery" default:"" placeholder:"KIND" help:"blocking, non_blocking, approval or error_recovery."`
	Option             []string              `short:"o" sep:"none" placeholder:"VALUE[=LABEL]" help:"A choice; repeat it."`
	Recommend          []string              `name:"recommended" sep:"none" placeholder:"VALUE" help:"Mark an option as recommended."`
	Danger             []string              `sep:"none" placeholder:"VALUE" help:"Mark an option as dangerous."`
	Multi              bool                  `help:"Several options may be chosen."`
	Other              bool                  `help:"An answer that is not among the options is possible too."`
	Default            *string               `placeholder:"VALUE" help:"What is taken when nobody answers."`
	Timeout            fermata.Timeout       `placeholder:"30m" help:"How long to wait for people: 30m, 36h, 3d or never. A policy bounds it; unless it is changed, 5m is the least."`
	Via                []string              `placeholder:"CHANNEL" help:"Send it over this channel at once; repeat it."`
	Remind             []string              `placeholder:"10m" help:"Remind people so long after asking; repeat it."`
	ShareContext       bool                  `help:"Let the context be shown in public places, such as a GitHub issue."`
	OnTimeout          fermata.TimeoutAction `enum:",default,skip,fail,escalate" default:"" placeholder:"ONTIMEOUT" help:"What happens then: default, skip, fail or escalate."`
	AllowDangerDefault bool                  `help:"Let the deadline take a default that is dangerous, or that approves."`
	Items              string                `type:"path" placeholder:"FILE" help:"JSON file with several items, or with a whole request."`
	Body               string                `placeholder:"TEXT|@FILE" help:"More about it, in Markdown."`
	Context            string                `placeholder:"TEXT|@FILE" help:"Something to look at first: text, a diff, JSON."`
	Action             string                `placeholder:"JSON|@FILE" help:"Of an approval: exactly what will run."`
	Assign             []string              `placeholder:"NAME" help:"Who may answer: handle, group:NAME or role:NAME."`
	Task               string                `env:"FERMATA_TASK" placeholder:"ID" help:"Task that asks; without one a task is made for the question."`
	Session            string                `placeholder:"KEY" help:"Join the questions of one session in one task."`
	Project            string                `help:"Project of the question."`
	Priority           *int                  `help:"0 (highest) to 4."`
	Risk               fermata.Risk          `enum:",low,medium,high,critical" default:"" placeholder:"RISK" help:"low, medium, high or critical."`
	CallbackURL        string                `name:"callback-url" placeholder:"URL" help:"Post the outcome there when the question closes, signed; needs a channel of the kind callback."`
	State              string                `placeholder:"JSON|TEXT|@FILE" help:"Given back with the question and its outcome as it is."`
	Key                string                `help:"Idempotency key: asking again with it asks nothing new."`
	Wait               waitFlag              `help:"Wait for the answer and print it; --wait=10m gives up after that time."`
	NoWait             bool                  `name:"no-wait" help:"Print the id and return at once (the default)."`
}

func (askCommand) Help() string {
	return `Without --wait the id of the question is printed. With --wait only the answer is, and the exit code tells what happened: 0 answered or approved, 3 rejected, 7 timed out (a default is printed), 8 still pending, 9 cancelled. With --json the question is printed in each of these cases, and an error as {"error": …} on standard error.

Examples:

    fermata ask "Which name for the release?" --wait
    fermata ask "Where to?" -o staging -o prod="Production" --danger prod --wait
    fermata ask "Delete the old logs?" --type boolean --default no --timeout 30m --wait
    fermata ask "Run it?" --type approval --action '{"command":"rm -r old"}' --wait=10m
    fermata ask "Look at this" --context @change.diff --session "$SESSION"`
}

// waitFlag is a flag with an optional length of time.
type waitFlag struct {
	on    bool
	limit time.Duration
}

// IsBool lets the flag stand without a value.
func (*waitFlag) IsBool() bool { return true }

// Decode reads --wait, --wait=10m, and --wait=false.
func (w *waitFlag) Decode(ctx *kong.DecodeContext) error {
	w.on = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch v := ctx.Scan.Pop().Value.(type) {
	case bool:
		w.on = v
	case string:
		if on, ok := notice.YesOrNo(v); ok {
			w.on = on
			return nil
		}
		d, err := fermata.Timeout(v).Duration()
		if err != nil {
			return fmt.Errorf("%q is no length of time", v)
		}
		w.limit = d
	}
	return nil
}

func (c *askCommand) Run(ctx context.Context, s *session) error {
	a, err := c.request(s)
	if err != nil {
		return err
	}
	outside := c.Task == "" || c.Session != "" || c.Project != ""
	path, body := "/questions", any(client.Outside{Project: c.Project, Session: c.Session, Ask: a})
	if !outside {
		path, body = "/tasks/"+c.Task+"/questions", a
	}
	if done, err := s.rehearse(c.write, "POST", path, body); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	var q *fermata.Question
	if outside {
		q, err = server.AskOutside(ctx, client.Outside{Project: c.Project, Session: c.Session, Ask: a})
	} else {
		q, err = server.Ask(ctx, c.Task, a)
	}
	if err != nil {
		return err
	}
	s.wrote(q.WorkspaceID, "asked %s", q.ID)
	if c.Wait.on && !c.NoWait {
		return s.awaitAnswer(ctx, q, c.Wait.limit)
	}
	if s.JSON {
		return s.json(q)
	}
	s.data().line("%s", q.ID)
	return nil
}

// request builds what is asked from the flags.
func (c *askCommand) request(s *session) (fermata.Ask, error) {
	a := fermata.Ask{
		Type: c.Kind, Title: c.Title, Question: c.Question, ResponseType: c.Type, Other: c.Other,
		Assignees: c.Assign, Channels: c.Via, Reminders: c.Remind, ShareContext: c.ShareContext, Timeout: c.Timeout, OnTimeout: c.OnTimeout, AllowDangerDefault: c.AllowDangerDefault, Priority: c.Priority,
		Risk: c.Risk, IdempotencyKey: c.Key, CallbackURL: c.CallbackURL,
	}
	if c.Items != "" {
		if err := readItems(c.Items, &a); err != nil {
			return a, err
		}
	}
	if c.Question == "" && c.Title == "" && c.Items == "" {
		return a, fermata.Errorf(fermata.CodeInvalidRequest, "say what to ask").WithHint(`fermata ask "Which one?" --wait`)
	}
	if err := c.addOptions(&a); err != nil {
		return a, err
	}
	var err error
	if a.Body, err = s.textOrFile(c.Body); err != nil {
		return a, err
	}
	if err := c.addContext(s, &a); err != nil {
		return a, err
	}
	if a.Action, err = s.jsonOrText(c.Action); err != nil {
		return a, err
	}
	if a.State, err = s.jsonOrText(c.State); err != nil {
		return a, err
	}
	return a, c.addDefault(&a)
}

// readItems reads a file with a list of items, or with a whole request.
func readItems(path string, a *fermata.Ask) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "read the items: %w", err)
	}
	if !utf8.Valid(data) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "read the items in %s: it is not valid UTF-8", path)
	}
	into := any(a)
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		into = &a.Items
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "read the items in %s: %w", path, err)
	}
	if a.Title == "" && (len(a.Items) > 0 || len(a.Questions) > 0) {
		// Beside items the question of the command line is the headline.
		a.Title = a.Question
	}
	if len(a.Items) > 0 || len(a.Questions) > 0 {
		a.Question = ""
	}
	return nil
}

func (c *askCommand) addOptions(a *fermata.Ask) error {
	for _, text := range c.Option {
		v, label, _ := strings.Cut(text, "=")
		a.Options = append(a.Options, fermata.Option{
			Value: v, Label: label,
			Recommended: slices.Contains(c.Recommend, v), Danger: slices.Contains(c.Danger, v),
		})
	}
	for _, v := range slices.Concat(c.Recommend, c.Danger) {
		if !slices.ContainsFunc(a.Options, func(o fermata.Option) bool { return o.Value == v }) {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%q is marked, but is no option", v)
		}
	}
	switch {
	case a.ResponseType != "" || len(a.Options) == 0:
	case c.Multi:
		a.ResponseType = fermata.ResponseMultiChoice
	default:
		a.ResponseType = fermata.ResponseChoice
	}
	return nil
}

func (c *askCommand) addContext(s *session, a *fermata.Ask) error {
	if c.Context == "" {
		return nil
	}
	text, err := s.textOrFile(c.Context)
	if err != nil {
		return err
	}
	kind := "text"
	switch filepath.Ext(c.Context) {
	case ".diff", ".patch":
		kind = "diff"
	case ".json":
		kind = "json"
	case ".sh":
		kind = "command"
	}
	a.Context = &fermata.QuestionContext{Preview: &fermata.Preview{Kind: kind, Text: text}}
	return nil
}

// addDefault reads the default as an answer to the question would be read.
func (c *askCommand) addDefault(a *fermata.Ask) error {
	if c.Default == nil {
		return nil
	}
	it := fermata.Item{ResponseType: a.ResponseType, Options: a.Options, Other: a.Other}
	if it.ResponseType == "" {
		it.ResponseType = fermata.ResponseText
		if a.Type == fermata.Approval || len(a.Action) > 0 {
			it.ResponseType = fermata.ResponseApproval
		}
	}
	v, err := notice.Pick(&it, *c.Default)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--default: %s", err)
	}
	a.Default = v
	return nil
}

// textOrFile returns the text itself, or what is in the file behind an @;
// @- is standard input.
func (s *session) textOrFile(text string) (string, error) {
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(s.lines)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "read the text: %w", err).
			WithHint("a text that begins with @ names a file")
	}
	if !utf8.Valid(data) {
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "%s is not valid UTF-8", name)
	}
	return string(data), nil
}

// jsonOrText returns a JSON document as it is, and any other text as a JSON
// string.
func (s *session) jsonOrText(text string) (json.RawMessage, error) {
	text, err := s.textOrFile(text)
	if err != nil || text == "" {
		return nil, err
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(strings.TrimSpace(text)), nil
	}
	return json.Marshal(text)
}
