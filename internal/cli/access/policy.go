package access

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// PolicyCommand is fermata policy: it shows and changes what agents may ask for.
type PolicyCommand struct {
	Show policyShowCommand `cmd:"" help:"Show what agents may ask for, and what happens to their questions."`
	Set  policySetCommand  `cmd:"" help:"Change it: for questions that are asked from now on, and for what is kept."`
}

type policyShowCommand struct{}

func (policyShowCommand) Help() string {
	return `Every setting is printed, also those that are not set: these have the default value.

Examples:

    fermata policy show
    fermata policy show --json > policy.json`
}

func (c *policyShowCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	p, err := server.Policy(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(p)
	}
	rows, err := policyRows(p)
	if err != nil {
		return err
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "SETTING"}, {Head: "VALUE", Flex: true}, {Head: "SET"}}}
	for _, r := range rows {
		set := "default"
		if r.set {
			set = "set"
		}
		t.Add(r.name, r.value, set)
	}
	s.PrintTable(t, "")
	return nil
}

type policySetCommand struct {
	session.WriteFlags
	Settings []string `arg:"" optional:"" name:"setting" sep:"none" placeholder:"NAME=VALUE" help:"What to change, by the names that fermata policy show prints; nothing behind the = restores the default."`
	File     string   `short:"f" type:"path" placeholder:"FILE" help:"JSON file with a whole policy, as fermata policy show --json prints it; - is standard input. What it leaves out gets its default."`
}

func (policySetCommand) Help() string {
	return `What is not named stays as it is. Lists are separated by commas; none is an empty list. The difference is printed, with --dry-run without changing anything. Questions that are open keep the deadline they have. What keep_tasks, keep_logs and keep_deliveries no longer keep is removed for good within the hour.

Examples:

    fermata policy set min_timeout=1m allow_never=no
    fermata policy set default_timeout.approval=2h resumed_timeout.blocking=3d
    fermata policy set reminders=2h,1d remind_every=2d --dry-run
    fermata policy set auto_confidence=90 ask_confidence=
    fermata policy set least_assurance.high=passkey least_risk.blocking=medium project_risk.shop=high
    fermata policy set --file policy.json`
}

func (c *policySetCommand) Run(ctx context.Context, s *session.Session) error {
	if (c.File == "") == (len(c.Settings) == 0) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "give either settings or --file").
			WithHint("fermata policy set min_timeout=1m; fermata policy show prints the names")
	}
	if err := session.CheckUniqueNames("", c.Settings); err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	before, err := server.Policy(ctx)
	if err != nil {
		return err
	}
	after, err := c.changePolicy(s, before)
	if err != nil {
		return err
	}
	if err := after.Check(); err != nil {
		return err
	}
	difference, err := policyDifference(before, after)
	if err != nil {
		return err
	}
	if after.RemovesAnything() && before.KeepTimes() != after.KeepTimes() {
		s.Stderr().Line("what is older is removed for good within the hour; export the audit before if you must keep it: fermata audit export FILE")
	}
	if c.DryRun {
		s.Stderr().Line("dry run: would send PUT %s/v1/policies", s.Address)
		return printPolicyChange(s, after, difference)
	}
	if len(difference) > 0 {
		if after, err = server.SetPolicy(ctx, after); err != nil {
			return err
		}
		s.PrintDone("", "changed the policy: %s", terminal.CountText(len(difference), "setting"))
	} else {
		s.PrintDone("", "the policy is unchanged")
	}
	return printPolicyChange(s, after, difference)
}

// printPolicyChange prints a policy as JSON, or the lines in which it changed.
func printPolicyChange(s *session.Session, p fermata.Policy, difference []string) error {
	if s.JSON {
		return s.WriteJSON(p)
	}
	for _, line := range difference {
		s.Stdout().Line("%s", line)
	}
	return nil
}

// changePolicy returns the policy with the settings of the command line, or the
// policy of the file.
func (c *policySetCommand) changePolicy(s *session.Session, p fermata.Policy) (fermata.Policy, error) {
	if c.File != "" {
		p = fermata.DefaultPolicy()
		return p, s.ReadJSON(c.File, &p)
	}
	for _, setting := range c.Settings {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return p, fermata.Errorf(fermata.CodeInvalidRequest, "%q names no value", setting).WithHint("write %s=VALUE; nothing behind the = restores the default", setting)
		}
		var err error
		if p, err = setPolicy(p, name, value); err != nil {
			return p, err
		}
	}
	return p, nil
}
