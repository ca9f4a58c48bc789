package access

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// MemberCommand is fermata member: it adds, invites, changes and lists people.
type MemberCommand struct {
	Add      memberAddCommand      `cmd:"" help:"Add a person."`
	Invite   memberInviteCommand   `cmd:"" help:"Invite a person with a link."`
	Link     memberLinkCommand     `cmd:"" help:"Make a one-time link by which a person signs in to the web."`
	List     memberListCommand     `cmd:"" help:"List the people."`
	Devices  memberDevicesCommand  `cmd:"" help:"List a person's passkeys and the browsers in which the person is signed in, and end them."`
	Identity memberIdentityCommand `cmd:"" help:"Say who a person is in Slack, GitHub …"`
	Set      memberSetCommand      `cmd:"" help:"Change a person, or take the access away."`
	WhoCan   memberWhoCanCommand   `cmd:"" name:"who-can" help:"Say who may decide a question, and why others may not."`
}

// personFlags holds the name, the groups and the project roles of a person.
type personFlags struct {
	Name    string                  `placeholder:"NAME" help:"What people read."`
	Group   []string                `help:"Group that the person is in; repeat it."`
	Project map[string]fermata.Role `mapsep:"none" placeholder:"PROJECT=ROLE" help:"Role in one project; repeat it."`
}

type memberAddCommand struct {
	session.WriteFlags
	personFlags
	Handle string       `arg:"" help:"Name that is unique in the workspace; what assignees name."`
	Email  string       `placeholder:"ADDRESS" help:"Where sign-in links go."`
	Role   fermata.Role `enum:"none,viewer,responder,operator,admin" default:"responder" placeholder:"ROLE" help:"none, viewer, responder (default), operator or admin."`
}

func (memberAddCommand) Help() string {
	return `A person signs in to the web with a link (fermata member link anna), and answers elsewhere with a token: fermata token create laptop --member anna

Examples:

    fermata member add anna --email anna@example.com
    fermata member add ben --role operator --group ops
    fermata member add cleo --role viewer --project web=responder`
}

func (c *memberAddCommand) Run(ctx context.Context, s *session.Session) error {
	n := client.NewMember{Handle: c.Handle, Name: c.Name, Email: c.Email, Role: c.Role, Groups: c.Group, Projects: c.Project}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/members", n); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	m, err := server.AddMember(ctx, n)
	if err != nil {
		return err
	}
	s.PrintDone("", "added %s as %s", terminal.OneLine(m.Handle), m.Role)
	if s.JSON {
		return s.WriteJSON(m)
	}
	s.Stdout().Line("%s", m.ID)
	return nil
}

type memberInviteCommand struct {
	session.WriteFlags
	personFlags
	Email  string       `arg:"" optional:"" help:"Where a mail with the link goes, if the server sends mails."`
	Handle string       `placeholder:"HANDLE" help:"Name that is unique in the workspace (default: the first part of the address)."`
	Role   fermata.Role `enum:"none,viewer,responder,operator,admin" default:"responder" placeholder:"ROLE" help:"none, viewer, responder (default), operator or admin."`
}

func (memberInviteCommand) Help() string {
	return `The link is printed once. The person who opens it becomes the member; it works once, within seven days.

Examples:

    fermata member invite anna@example.com
    fermata member invite --handle ben --role operator`
}

func (c *memberInviteCommand) Run(ctx context.Context, s *session.Session) error {
	n := fermata.NewInvitation{Email: c.Email, Handle: c.Handle, Name: c.Name, Role: c.Role, Groups: c.Group, Projects: c.Project}
	if err := n.Complete(); err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/invitations", n); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	i, err := server.Invite(ctx, n)
	if err != nil {
		return err
	}
	how := "give the person this link"
	if i.Sent {
		how = "a mail to " + terminal.OneLine(i.Email) + " is on its way"
	}
	s.PrintDone("", "invited %s as %s; %s", terminal.OneLine(i.Handle), i.Role, how)
	return printLink(s, i, i.URL)
}

// printLink prints the link, which is shown only once. With --json it prints reply.
func printLink(s *session.Session, reply any, url string) error {
	if url == "" {
		return fermata.Errorf(fermata.CodeUnavailable, "the reply with the link was lost on its way").WithHint("make another")
	}
	if s.JSON {
		return s.WriteJSON(reply)
	}
	s.Stdout().Line("%s", url)
	return nil
}

type memberLinkCommand struct {
	session.WriteFlags
	Handle string `arg:"" optional:"" help:"Who signs in with it (default: you)."`
}

func (memberLinkCommand) Help() string {
	return `The link is printed once. It works once, within a day. Everybody who opens it is signed in as the person, so it is as secret as a password.

Examples:

    fermata member link
    fermata member link anna`
}

func (c *memberLinkCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	if c.Handle == "" {
		me, err := server.Whoami(ctx)
		if err != nil {
			return err
		}
		if me.Kind != fermata.ActorHuman {
			return fermata.Errorf(fermata.CodeInvalidRequest, "the token is an agent's: say who signs in").WithHint("fermata member link HANDLE")
		}
		c.Handle = me.Name
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/members/"+c.Handle+"/links", nil); done {
		return err
	}
	l, err := server.MakeLink(ctx, c.Handle)
	if err != nil {
		return err
	}
	s.PrintDone("", "made a link for %s; it works once, until %s", terminal.OneLine(l.Member), l.ExpiresAt.Local().Format("2006-01-02 15:04"))
	return printLink(s, l, l.URL)
}

type memberSetCommand struct {
	session.WriteFlags
	Handle  string                  `arg:"" help:"Whom to change."`
	Name    *string                 `placeholder:"NAME" help:"What people read."`
	Email   *string                 `placeholder:"ADDRESS" help:"Where sign-in links go; empty takes it away."`
	Role    fermata.Role            `enum:",none,viewer,responder,operator,admin" default:"" placeholder:"ROLE" help:"none, viewer, responder, operator or admin."`
	Group   []string                `xor:"groups" help:"Group that the person is in; repeat it. Replaces all."`
	NoGroup bool                    `name:"no-group" xor:"groups" help:"Take the person out of every group."`
	Project map[string]fermata.Role `mapsep:"none" placeholder:"PROJECT=ROLE" help:"Role in one project; repeat it. Replaces all."`
	Disable bool                    `xor:"state" help:"The person may not sign in: sessions and tokens end at once."`
	Enable  bool                    `xor:"state" help:"The person may sign in again."`
}

func (memberSetCommand) Help() string {
	return `Examples:

    fermata member set anna --role admin
    fermata member set ben --email ben@example.com --group ops --group web
    fermata member set cleo --project web=operator
    fermata member set dan --disable`
}

func (c *memberSetCommand) change() (fermata.MemberChange, error) {
	ch := fermata.MemberChange{Name: c.Name, Email: c.Email, Groups: c.Group, Projects: c.Project}
	if c.Role != "" {
		ch.Role = &c.Role
	}
	if c.NoGroup {
		ch.Groups = []string{}
	}
	if c.Disable || c.Enable {
		ch.Disabled = &c.Disable
	}
	if ch.ChangesOnlyName() && ch.Name == nil {
		return ch, fermata.Errorf(fermata.CodeInvalidRequest, "there is nothing to change").WithHint("fermata member set --help")
	}
	return ch, nil
}

func (c *memberSetCommand) Run(ctx context.Context, s *session.Session) error {
	ch, err := c.change()
	if err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "PATCH", "/members/"+c.Handle, ch); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	m, err := server.ChangeMember(ctx, c.Handle, ch)
	if err != nil {
		return err
	}
	s.PrintDone("", "changed %s", terminal.OneLine(m.Handle))
	if s.JSON {
		return s.WriteJSON(m)
	}
	return nil
}

type memberListCommand struct{}

func (memberListCommand) Help() string {
	return `Examples:

    fermata member list`
}

func (c *memberListCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	list, err := server.Members(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(list)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "ID"}, {Head: "HANDLE", Flex: true}, {Head: "ROLE"}, {Head: "GROUPS", Flex: true}, {Head: "ADDED"}}}
	for _, m := range list {
		t.Add(s.IDText(m.ID), m.Handle, roleText(m), strings.Join(m.Groups, ","), s.AgoText(m.CreatedAt))
	}
	s.PrintTable(t, "there is nobody")
	return nil
}

// roleText returns the role of a member, with the roles in single projects.
func roleText(m *fermata.Member) string {
	if m.DisabledAt != nil {
		return "disabled"
	}
	text := string(m.Role)
	for _, project := range slices.Sorted(maps.Keys(m.Projects)) {
		text += ", " + project + ": " + string(m.Projects[project])
	}
	return text
}
