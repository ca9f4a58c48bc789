package workflow

import (
	"context"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type putCommand struct {
	session.WriteFlags
	File    string `arg:"" help:"The definition; - is standard input."`
	Disable bool   `xor:"state" help:"No trigger starts a run until it is enabled."`
	Enable  bool   `xor:"state" help:"Enable it, if it was disabled."`
}

func (putCommand) Help() string {
	return `The name is the one in the file. Runs that are under way stay with the definition that they began with. A definition with a problem is not stored; the exit code is 1.

Examples:

    fermata workflow put autofix.yaml
    fermata workflow put autofix.yaml --disable
    fermata workflow put autofix.yaml --dry-run`
}

func (c *putCommand) Run(ctx context.Context, s *session.Session, local Local) error {
	source, err := readSource(s, c.File)
	if err != nil {
		return err
	}
	check, err := local.checkSource(source)
	if err != nil {
		return err
	}
	if !check.Valid {
		return reportRefusedFile(s, c.File, check, "nothing was stored")
	}
	d := client.Definition{Source: string(source), Enabled: c.enabledFlag()}
	if done, err := s.PrintDryRun(c.WriteFlags, "PUT", "/workflows/"+check.Name, d); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	// Only the server knows the tools of the workspace.
	if check, err = server.CheckWorkflow(ctx, d.Source); err != nil {
		return err
	}
	if !check.Valid {
		return reportRefusedFile(s, c.File, check, "nothing was stored")
	}
	printProblems(s.Stderr(), c.File, check.Problems)
	before, err := server.Workflow(ctx, check.Name, "")
	if session.IsLookupFailure(err) {
		return err
	}
	if before != nil && before.Source == d.Source && (d.Enabled == nil || *d.Enabled == before.Enabled) {
		s.PrintDone(before.WorkspaceID, "%s is unchanged (%s)", terminal.OneLine(before.Name), enabledText(before))
		if s.JSON {
			return s.WriteJSON(before)
		}
		return nil
	}
	after, err := server.PutWorkflow(ctx, check.Name, d)
	if err != nil {
		return err
	}
	s.PrintDone(after.WorkspaceID, "%s", changeText(before, after))
	if s.JSON {
		return s.WriteJSON(after)
	}
	printStartHints(s, after)
	return nil
}

func (c *putCommand) enabledFlag() *bool {
	if !c.Enable && !c.Disable {
		return nil
	}
	return &c.Enable
}

// reportRefusedFile prints the problems of a file, and what was not done because of
// them.
func reportRefusedFile(s *session.Session, file string, check *fermata.WorkflowCheck, consequence string) error {
	if s.JSON {
		if err := s.WriteJSON(checkedFile{file, *check}); err != nil {
			return err
		}
		return session.ExitError(session.ExitFailed)
	}
	printProblems(s.Stderr(), file, check.Problems)
	s.Stderr().Line("%s: %s; %s", terminal.OneLine(file), checkSummary(check), consequence)
	return session.ExitError(session.ExitFailed)
}

// changeText returns what storing a definition changed.
func changeText(before, after *fermata.Workflow) string {
	name, state := terminal.OneLine(after.Name), enabledText(after)
	switch {
	case before == nil:
		return "stored " + name + ", new, " + state
	case before.Hash == after.Hash:
		return name + " is " + state + " now; its definition is unchanged"
	}
	text := "changed " + name + " from " + terminal.ShortHash(before.Hash) + " to " + terminal.ShortHash(after.Hash) + ", " + state
	added, removed := missingFrom(stepNames(after.Graph), stepNames(before.Graph)), missingFrom(stepNames(before.Graph), stepNames(after.Graph))
	if len(added) > 0 {
		text += "; new steps: " + terminal.OneLine(strings.Join(added, ", "))
	}
	if len(removed) > 0 {
		text += "; gone: " + terminal.OneLine(strings.Join(removed, ", "))
	}
	return text
}

// stepNames returns the names of the steps of a graph.
func stepNames(g *fermata.WorkflowGraph) []string {
	var names []string
	if g == nil {
		return nil
	}
	for _, n := range g.Nodes {
		if isStep(n) {
			names = append(names, n.ID)
		}
	}
	return names
}

// missingFrom returns the elements of a that are not in b.
func missingFrom(a, b []string) []string {
	var list []string
	for _, name := range a {
		if !slices.Contains(b, name) {
			list = append(list, name)
		}
	}
	return list
}

func enabledText(w *fermata.Workflow) string {
	if w.Enabled {
		return "enabled"
	}
	return "disabled"
}

// printStartHints prints how runs of the workflow start.
func printStartHints(s *session.Session, w *fermata.Workflow) {
	if !w.Enabled {
		s.Stderr().Line("no trigger starts a run: fermata workflow enable %s", terminal.OneLine(w.Name))
		return
	}
	for _, t := range w.Triggers {
		switch t.Type {
		case fermata.TriggerManual:
			s.Stderr().Line("start it: fermata workflow run %s", terminal.OneLine(w.Name))
		case fermata.TriggerSchedule:
			if t.NextAt != nil {
				s.Stderr().Line("next run by schedule: %s", t.NextAt.UTC().Format("2006-01-02 15:04 UTC"))
			}
		case fermata.TriggerWebhook:
			if t.Text == fermata.UnsignedWebhook {
				s.Stderr().Line("webhook: POST %s, unsigned: anybody who knows the address can start runs", webhookURL(s, t))
				continue
			}
			s.Stderr().Line("webhook: POST %s, signed; make the secret: fermata workflow webhook-secret %s", webhookURL(s, t), terminal.OneLine(w.Name))
		default:
			// Labels, events and other workflows need no action of the person.
		}
	}
}

// webhookURL returns the address of a webhook. If the server does not know its
// public address, it gives only the path.
func webhookURL(s *session.Session, t fermata.WorkflowTrigger) string {
	if strings.HasPrefix(t.URL, "/") {
		return terminal.OneLine(s.Address + t.URL)
	}
	return terminal.OneLine(t.URL)
}
