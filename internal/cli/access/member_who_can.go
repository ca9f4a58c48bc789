package access

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type memberWhoCanCommand struct {
	Question string `arg:"" help:"Id of the question, or its end."`
}

func (memberWhoCanCommand) Help() string {
	return `Examples:

    fermata member who-can que_01h9`
}

func (c *memberWhoCanCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	d, err := server.Deciders(ctx, c.Question)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(d)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "HANDLE", Flex: true}, {Head: "ROLE"}, {Head: "MAY"}, {Head: "WHY NOT", Flex: true}}}
	for _, one := range d.Items {
		t.Add(one.Handle, string(one.Role), yesOrNo(one.May), one.Why)
	}
	s.PrintTable(t, "there is nobody")
	s.Stderr().Line("%s", requirementText(d))
	return nil
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// requirementText returns how many people must decide, and how strongly they must prove
// who they are.
func requirementText(d *fermata.Deciders) string {
	text := "One answer decides"
	if d.Required > 1 {
		text = fmt.Sprintf("%d approvals decide", d.Required)
	}
	if how := render.AssurancePhrases[d.LeastAssurance]; how != "" {
		return text + ", by people who are known " + how + "."
	}
	if how := render.AssurancePhrases[d.LeastWithoutSignIn]; how != "" {
		return text + "; over a channel or by a link, by people who are known " + how + "."
	}
	return text + "."
}
