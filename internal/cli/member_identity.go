package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type memberIdentityCommand struct {
	write
	Handle string `arg:"" optional:"" help:"The person; without one, all are listed."`
	Kind   string `arg:"" optional:"" help:"Kind of channels: slack, github …"`
	ID     string `arg:"" optional:"" help:"The person's id there, such as U0123456789."`
	Name   string `placeholder:"NAME" help:"What people call the person there."`
	Remove bool   `help:"Forget who the person is there."`
}

func (memberIdentityCommand) Help() string {
	return `Whoever is somebody there answers as that person, so only admins say it.

Examples:

    fermata member identity
    fermata member identity anna slack U0123456789
    fermata member identity anna github 583231
    fermata member identity anna slack --remove`
}

func (c *memberIdentityCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
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
		return s.printIdentities(all)
	case c.Kind == "" || c.ID == "" && !c.Remove:
		return fermata.Errorf(fermata.CodeInvalidRequest, "name the kind of channels and the person's id there").
			WithHint("fermata member identity %s slack U0123456789", c.Handle)
	case c.Remove:
		if done, err := s.printDryRun(c.write, "DELETE", "/members/"+c.Handle+"/identities/"+c.Kind, nil); done {
			return err
		}
		if err := server.RemoveIdentity(ctx, c.Handle, c.Kind); err != nil {
			return err
		}
		s.printDone("", "%s is nobody on %s any more", oneLine(c.Handle), oneLine(c.Kind))
		return nil
	}
	if done, err := s.printDryRun(c.write, "PUT", "/members/"+c.Handle+"/identities/"+c.Kind, map[string]string{"id": c.ID, "name": c.Name}); done {
		return err
	}
	i, err := server.SetIdentity(ctx, c.Handle, c.Kind, c.ID, c.Name)
	if err != nil {
		return err
	}
	s.printDone("", "%s is %s on %s", oneLine(i.Member), oneLine(i.ID), oneLine(i.Kind))
	if s.JSON {
		return s.writeJSON(i)
	}
	return nil
}

// checkUnread refuses arguments that a list and --remove do not read.
func (c *memberIdentityCommand) checkUnread() error {
	unread := map[string]bool{"an id": c.ID != "", "--name": c.Name != ""}
	switch {
	case c.Remove:
		return checkUnreadFlags("--remove", unread)
	case c.Handle == "":
		return checkUnreadFlags("a list", unread)
	}
	return nil
}

func (s *session) printIdentities(all []fermata.Identity) error {
	if s.JSON {
		return s.writeJSON(all)
	}
	t := &table{columns: []column{{head: "MEMBER"}, {head: "KIND"}, {head: "ID"}, {head: "NAME", flex: true}}}
	for _, i := range all {
		t.add(i.Member, i.Kind, i.ID, i.Name)
	}
	s.printTable(t, "nobody is known in the systems behind channels")
	return nil
}
