package cli

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
)

type memberWhoCanCommand struct {
	Question string `arg:"" help:"Id of the question, or its end."`
}

func (memberWhoCanCommand) Help() string {
	return `Examples:

    fermata member who-can que_01h9`
}

func (c *memberWhoCanCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	d, err := server.Deciders(ctx, c.Question)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(d)
	}
	t := &table{columns: []column{{head: "HANDLE", flex: true}, {head: "ROLE"}, {head: "MAY"}, {head: "WHY NOT", flex: true}}}
	for _, one := range d.Items {
		t.add(one.Handle, string(one.Role), yesOrNo(one.May), one.Why)
	}
	s.printTable(t, "there is nobody")
	s.stderr().line("%s", requirementText(d))
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
	if how := assurancePhrases[d.LeastAssurance]; how != "" {
		return text + ", by people who are known " + how + "."
	}
	if how := assurancePhrases[d.LeastWithoutSignIn]; how != "" {
		return text + "; over a channel or by a link, by people who are known " + how + "."
	}
	return text + "."
}

// assurancePhrases names each way in which a person proves who they are.
var assurancePhrases = map[fermata.Assurance]string{
	fermata.AssuranceChannel: "in the channel", fermata.AssuranceSession: "by a sign-in in the browser", fermata.AssurancePasskey: "by a passkey",
}
