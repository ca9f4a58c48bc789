package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type grantCommand struct {
	Verify grantVerifyCommand `cmd:"" help:"Check a grant against what is about to run, and use it up."`
}

type grantVerifyCommand struct {
	Grant  string `arg:"" env:"FERMATA_GRANT" help:"The grant, from the context of the resumed task; @FILE reads it."`
	RunID  string `name:"run" env:"FERMATA_RUN" placeholder:"ID" help:"Run that is about to act; once it is over, the grant is refused."`
	Action string `required:"" placeholder:"JSON|@FILE" help:"What is about to run; @- reads standard input."`
}

func (grantVerifyCommand) Help() string {
	return `A grant is the signed consent to one action, once. The command ends with 0 when the action is the one that was approved, and the grant was not used before; with anything else the action must not run.

Examples:

    fermata grant verify "$GRANT" --action '{"command":"rm -r old"}' && rm -r old
    fermata grant verify @grant.txt --action @- < action.json`
}

func (c *grantVerifyCommand) Run(ctx context.Context, s *session.Session) error {
	signed, err := s.TextOrFile("grant", c.Grant)
	if err != nil {
		return err
	}
	action, err := s.JSONOrText("--action", c.Action)
	if err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	g, err := server.VerifyGrant(ctx, fermata.GrantCheck{Grant: signed, RunID: c.RunID, Action: action})
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(g)
	}
	who := string(g.By.Kind)
	if g.By.Name != "" {
		who = g.By.Name
	}
	s.PrintDone(g.WorkspaceID, "approved by %s at %s (%s); the grant is used up now", terminal.OneLine(who), g.At.UTC().Format("2006-01-02 15:04 UTC"), g.QuestionID)
	return nil
}
