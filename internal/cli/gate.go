package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type gateCommand struct {
	List   gateListCommand   `cmd:"" help:"List the rules."`
	Add    gateAddCommand    `cmd:"" help:"Add a rule."`
	Remove gateRemoveCommand `cmd:"" help:"Remove a rule."`
	Test   gateTestCommand   `cmd:"" help:"Say what would be decided about a call, and why."`
}

type gateListCommand struct {
	All bool `help:"Also those that are expired or used up."`
}

func (gateListCommand) Help() string {
	return `Examples:

    fermata gate list
    fermata gate list --all --json`
}

func (c *gateListCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	all, err := server.GateRules(ctx)
	if err != nil {
		return err
	}
	rules := []*fermata.GateRule{}
	for _, r := range all {
		if c.All || r.IsLive(s.Now()) {
			rules = append(rules, r)
		}
	}
	if s.JSON {
		return s.WriteJSON(rules)
	}
	t := &terminal.Table{Columns: []terminal.Column{
		{Head: "ID"}, {Head: "DECISION"}, {Head: "TOOL", Flex: true}, {Head: "ARGUMENTS", Flex: true}, {Head: "FOR", Flex: true},
		{Head: "USES"}, {Head: "EXPIRES"}, {Head: "OWNER", Flex: true}, {Head: "REASON", Flex: true},
	}}
	for _, r := range rules {
		t.Add(s.IDText(r.ID), decisionText(r), r.Tool, patternsText(r.Args), ruleScope(r), ruleUses(r), ruleExpiry(s, r), r.Owner.Name, r.Reason)
	}
	s.PrintTable(t, "there are no rules: the policy decides about every call; fermata gate add makes one")
	return nil
}

// decisionText returns the decision of a rule, with the risk of the question that it asks.
func decisionText(r *fermata.GateRule) string {
	if r.Risk == "" {
		return string(r.Decision)
	}
	return fmt.Sprintf("%s, %s risk", r.Decision, r.Risk)
}

func patternsText(args map[string]string) string {
	parts := make([]string, 0, len(args))
	for _, path := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, path+"="+args[path])
	}
	return strings.Join(parts, " ")
}

func ruleScope(r *fermata.GateRule) string {
	switch {
	case r.Project != "":
		return "project " + r.Project
	case r.TaskID != "":
		return "task " + r.TaskID
	case r.SessionKey != "":
		if r.SessionOwner != nil {
			return fmt.Sprintf("session %s of %s", r.SessionKey, r.SessionOwner.DisplayName())
		}
		return "session " + r.SessionKey
	default:
		return "workspace"
	}
}

func ruleUses(r *fermata.GateRule) string {
	if !r.IsLimited() {
		return "any"
	}
	return fmt.Sprintf("%d of %d", r.Used, r.Uses)
}

func ruleExpiry(s *session.Session, r *fermata.GateRule) string {
	if r.ExpiresAt == nil {
		return "never"
	}
	return s.LeftText(r.ExpiresAt)
}

type gateAddCommand struct {
	session.WriteFlags
	Decision fermata.GateDecision `arg:"" enum:"allow,deny,ask" help:"allow, deny or ask."`
	Tool     string               `arg:"" help:"Pattern of the tool's name, such as Bash or mcp__db__*."`
	Args     []string             `arg:"" optional:"" name:"argument" help:"PATH=PATTERN of an argument, such as command='git status*'."`
	Project  string               `help:"For one project only."`
	Task     string               `placeholder:"ID" help:"For one task only."`
	Session  string               `placeholder:"KEY" help:"For one session only."`
	Expires  fermata.Timeout      `name:"expires-in" placeholder:"8h" help:"How long it is good for; default: until it is removed."`
	Uses     session.Quantity     `placeholder:"N" help:"Of allow: how many calls it lets through; default: any number."`
	Risk     fermata.Risk         `enum:",low,medium,high,critical" default:"" placeholder:"RISK" help:"Of ask: how the approval is marked."`
	Reason   string               `placeholder:"TEXT|@FILE" help:"Why; agents are told."`
}

func (gateAddCommand) Help() string {
	return `A rule that denies wins over one that asks, and that over one that allows. In a pattern * stands for any text and ? for one character. An allow rule fits a command line only if that is one plain command: 'git status*' lets no second command ride along. The pattern * alone fits everything.

Rules are made here and nowhere else: no answer to a question makes one.

Examples:

    fermata gate add allow Read
    fermata gate add allow Bash command='git status*' --reason "reads only"
    fermata gate add allow Bash command='make test' --session claude:4f2a --uses 5 --expires-in 8h
    fermata gate add ask 'mcp__db__*' --risk high
    fermata gate add deny Bash command='rm *'
    fermata gate add deny Write file_path='*/.env'`
}

func (c *gateAddCommand) Run(ctx context.Context, s *session.Session) error {
	args, err := readPatterns(c.Args)
	if err != nil {
		return err
	}
	reason, err := s.TextOrFile("--reason", c.Reason)
	if err != nil {
		return err
	}
	n := fermata.NewGateRule{
		Tool: c.Tool, Args: args, Decision: c.Decision, Project: c.Project, TaskID: c.Task, SessionKey: c.Session,
		ExpiresIn: c.Expires, Uses: int(c.Uses), Risk: c.Risk, Reason: reason,
	}
	if err := n.Check(); err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/gate-rules", n); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	r, err := server.AddGateRule(ctx, n)
	if err != nil {
		return err
	}
	s.PrintDone(r.WorkspaceID, "made %s", terminal.OneLine(r.Sentence()))
	if s.JSON {
		return s.WriteJSON(r)
	}
	s.Stdout().Line("%s", r.ID)
	return nil
}

// readPatterns reads PATH=PATTERN pairs.
func readPatterns(list []string) (map[string]string, error) {
	args := map[string]string{}
	for _, text := range list {
		path, pattern, ok := strings.Cut(text, "=")
		if _, twice := args[path]; !ok || path == "" || twice {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no argument, or stands twice", text).
				WithHint("write PATH=VALUE, such as command='git status*'")
		}
		args[path] = pattern
	}
	if len(args) == 0 {
		return nil, nil
	}
	return args, nil
}

type gateRemoveCommand struct {
	session.WriteFlags
	ID string `arg:"" help:"The rule."`
}

func (gateRemoveCommand) Help() string {
	return `Examples:

    fermata gate remove 3f9k2a`
}

func (c *gateRemoveCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/gate-rules/"+c.ID, nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	r, err := server.RemoveGateRule(ctx, c.ID)
	if err != nil {
		return err
	}
	s.PrintDone(r.WorkspaceID, "removed %s", terminal.OneLine(r.Sentence()))
	if s.JSON {
		return s.WriteJSON(r)
	}
	return nil
}

type gateTestCommand struct {
	Tool    string   `arg:"" help:"Name of the tool."`
	Args    []string `arg:"" optional:"" name:"argument" help:"PATH=VALUE of an argument."`
	Input   string   `placeholder:"JSON|@FILE" help:"All arguments, as JSON."`
	Project string   `help:"As if called in this project."`
	Task    string   `placeholder:"ID" help:"As if called by this task, in its project."`
	Session string   `placeholder:"KEY" help:"As if you called it in this session of yours; for a session of another one name its task."`
}

func (gateTestCommand) Help() string {
	return `Nothing is asked, counted or recorded. The exit code is 0 when the call would be allowed, 3 when it would be denied, 8 when a person would be asked.

Examples:

    fermata gate test Bash command='git status; rm -rf /'
    fermata gate test Write --input '{"file_path":"/work/.env","content":"x"}'`
}

func (c *gateTestCommand) Run(ctx context.Context, s *session.Session) error {
	if c.Task != "" {
		if err := session.CheckUnreadFlags("--task", map[string]bool{"--project": c.Project != "", "--session": c.Session != ""}); err != nil {
			return err
		}
	}
	input, err := c.input(s)
	if err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	v, err := server.Gate(ctx, fermata.GateCall{
		TaskID: c.Task, SessionKey: c.Session, Project: c.Project, Tool: c.Tool, Input: input, DryRun: true,
	})
	if err != nil {
		return err
	}
	if s.JSON {
		err = s.WriteJSON(v)
	} else {
		s.Stdout().Line("%s\t%s", v.Decision, terminal.OneLine(v.Reason))
	}
	if err != nil {
		return err
	}
	switch v.Decision {
	case fermata.GateAllow:
		return nil
	case fermata.GateAsk:
		return session.ExitError(session.ExitPending)
	default:
		return session.ExitError(session.ExitRejected)
	}
}

// input returns the arguments of the call as JSON.
func (c *gateTestCommand) input(s *session.Session) (json.RawMessage, error) {
	if c.Input != "" {
		if len(c.Args) > 0 {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "give either --input or arguments")
		}
		return s.JSONOrText("--input", c.Input)
	}
	values, err := readPatterns(c.Args)
	if err != nil {
		return nil, err
	}
	root := map[string]any{}
	for _, at := range slices.Sorted(maps.Keys(values)) {
		here, names := root, strings.Split(at, ".")
		for _, name := range names[:len(names)-1] {
			inner, ok := here[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				here[name] = inner
			}
			here = inner
		}
		here[names[len(names)-1]] = values[at]
	}
	return json.Marshal(root)
}
