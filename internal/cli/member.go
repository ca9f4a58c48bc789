package cli

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type memberCommand struct {
	Add  memberAddCommand  `cmd:"" help:"Add a person."`
	List memberListCommand `cmd:"" help:"List the people."`
}

type memberAddCommand struct {
	write
	Handle string       `arg:"" help:"Name that is unique in the workspace; what assignees name."`
	Role   fermata.Role `enum:"viewer,responder,operator,admin" default:"responder" placeholder:"ROLE" help:"viewer, responder (default), operator or admin."`
	Group  []string     `help:"Group that the person is in; repeat it."`
}

func (memberAddCommand) Help() string {
	return `A person answers with a token of their own: fermata token create laptop --member anna

Examples:

    fermata member add anna
    fermata member add ben --role operator --group ops`
}

func (c *memberAddCommand) Run(ctx context.Context, s *session) error {
	n := client.NewMember{Handle: c.Handle, Role: c.Role, Groups: c.Group}
	if done, err := s.rehearse(c.write, "POST", "/members", n); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	m, err := server.AddMember(ctx, n)
	if err != nil {
		return err
	}
	s.wrote("", "added %s as %s", oneLine(m.Handle), m.Role)
	if s.JSON {
		return s.json(m)
	}
	s.data().line("%s", m.ID)
	return nil
}

type memberListCommand struct{}

func (memberListCommand) Help() string {
	return `Examples:

    fermata member list`
}

func (c *memberListCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	list, err := server.Members(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.json(list)
	}
	t := &table{columns: []column{{head: "ID"}, {head: "HANDLE", flex: true}, {head: "ROLE"}, {head: "GROUPS", flex: true}, {head: "ADDED"}}}
	for _, m := range list {
		t.add(s.id(m.ID), m.Handle, string(m.Role), strings.Join(m.Groups, ","), s.ago(m.CreatedAt))
	}
	s.print(t, "there is nobody")
	return nil
}
