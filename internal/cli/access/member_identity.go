package access

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type memberIdentityCommand struct {
	session.WriteFlags
	Handle string `arg:"" optional:"" help:"The person; without one, all are listed."`
	Kind   string `arg:"" optional:"" help:"Kind of channels: slack, github …"`
	ID     string `arg:"" optional:"" help:"The person's id there, such as U0123456789."`
	Name   string `placeholder:"NAME" help:"What people call the person there."`
	Remove bool   `help:"Forget who the person is there."`
}

func (memberIdentityCommand) Help() string {
	return `The holder of the account there answers as the member, so only admins say it.

Examples:

    fermata member identity
    fermata member identity anna slack U0123456789
    fermata member identity anna github 583231
    fermata member identity anna slack --remove`
}

func (c *memberIdentityCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	if err := c.checkUnread(); err != nil {
		return err
	}
	switch {
	case c.Handle == "" && !c.Remove:
		all, err := server.Identities(ctx)
		if err != nil {
			return err
		}
		return printIdentities(s, all)
	case c.Kind == "" || c.ID == "" && !c.Remove:
		return fermata.Errorf(fermata.CodeInvalidRequest, "name the kind of channels and the person's id there").
			WithHint("fermata member identity %s slack U0123456789", c.Handle)
	case c.Remove:
		if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/members/"+c.Handle+"/identities/"+c.Kind, nil); done {
			return err
		}
		if err := server.RemoveIdentity(ctx, c.Handle, c.Kind); err != nil {
			return err
		}
		s.PrintDone("", "%s is nobody on %s any more", terminal.OneLine(c.Handle), terminal.OneLine(c.Kind))
		return nil
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "PUT", "/members/"+c.Handle+"/identities/"+c.Kind, map[string]string{"id": c.ID, "name": c.Name}); done {
		return err
	}
	i, err := server.SetIdentity(ctx, c.Handle, c.Kind, c.ID, c.Name)
	if err != nil {
		return err
	}
	s.PrintDone("", "%s is %s on %s", terminal.OneLine(i.Member), terminal.OneLine(i.ID), terminal.OneLine(i.Kind))
	if s.JSON {
		return s.WriteJSON(i)
	}
	return nil
}

// checkUnread refuses arguments that a list and --remove do not read.
func (c *memberIdentityCommand) checkUnread() error {
	unread := map[string]bool{"an id": c.ID != "", "--name": c.Name != ""}
	switch {
	case c.Remove:
		return session.CheckUnreadFlags("--remove", unread)
	case c.Handle == "":
		return session.CheckUnreadFlags("a list", unread)
	}
	return nil
}

func printIdentities(s *session.Session, all []fermata.Identity) error {
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "MEMBER"}, {Head: "KIND"}, {Head: "ID"}, {Head: "NAME", Flex: true}}}
	for _, i := range all {
		t.Add(i.Member, i.Kind, i.ID, i.Name)
	}
	s.PrintTable(t, "nobody is known in the systems behind channels")
	return nil
}
