package access

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// TokenCommand is fermata token: it makes, lists and revokes tokens.
type TokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Make a token and print its secret once."`
	List   tokenListCommand   `cmd:"" help:"List the tokens."`
	Revoke tokenRevokeCommand `cmd:"" help:"End a token."`
}

type tokenCreateCommand struct {
	session.WriteFlags
	Name    string          `arg:"" help:"What it is for."`
	Scope   []fermata.Scope `short:"s" placeholder:"SCOPE" help:"ask, answer, work, read, admin; default: ask and read, for a person answer and read."`
	Person  string          `name:"member" placeholder:"HANDLE" help:"Make it a person's token; only those can answer."`
	Role    fermata.Role    `enum:",viewer,responder,operator,admin" default:"" placeholder:"ROLE" help:"Of a new person: viewer, responder, operator or admin."`
	Group   []string        `help:"Of a new person."`
	Project []string        `placeholder:"PROJECT" help:"Project that an agent's token sees and works in; repeat it. Default: every project."`
	Expiry  fermata.Timeout `name:"expires-in" placeholder:"90d" help:"How long it is good for; default: until it is revoked."`
}

func (tokenCreateCommand) Help() string {
	return `The secret is printed on standard output and cannot be shown again.

Examples:

    fermata token create ci --scope ask --project web
    fermata token create worker-1 --scope work,ask --expires-in 90d
    fermata token create laptop --member anna --role operator --scope answer,ask,read`
}

func (c *tokenCreateCommand) Run(ctx context.Context, s *session.Session) error {
	n := fermata.NewToken{
		Name: c.Name, Kind: fermata.ActorAgent, Member: c.Person, Role: c.Role, Groups: c.Group, Projects: c.Project,
		Scopes: c.Scope, ExpiresIn: c.Expiry,
	}
	first := fermata.ScopeAsk
	if c.Person != "" {
		n.Kind, first = fermata.ActorHuman, fermata.ScopeAnswer
	}
	if len(n.Scopes) == 0 {
		n.Scopes = []fermata.Scope{first, fermata.ScopeRead}
	}
	if err := n.Check(); err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/tokens", n); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	token, err := server.CreateToken(ctx, n)
	if err != nil {
		return err
	}
	s.PrintDone(token.WorkspaceID, "made %s for %s", token.ID, terminal.OneLine(token.Name))
	if token.Secret == "" {
		// The call was retried, and only the first reply held the secret.
		return fermata.Errorf(fermata.CodeUnavailable, "the reply with the secret was lost on its way").
			WithHint("fermata token revoke %s, then make another", terminal.ShortID(token.ID))
	}
	if s.JSON {
		return s.WriteJSON(token)
	}
	s.Stdout().Line("%s", token.Secret)
	return nil
}

type tokenListCommand struct {
	All bool `help:"Also those that were revoked."`
}

func (tokenListCommand) Help() string {
	return `Examples:

    fermata token list`
}

func (c *tokenListCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	all, err := server.Tokens(ctx)
	if err != nil {
		return err
	}
	list := []*fermata.Token{}
	for _, token := range all {
		if c.All || token.RevokedAt == nil {
			list = append(list, token)
		}
	}
	if s.JSON {
		return s.WriteJSON(list)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "ID"}, {Head: "NAME", Flex: true}, {Head: "KIND"}, {Head: "MEMBER", Flex: true}, {Head: "SCOPES", Flex: true}, {Head: "PROJECTS", Flex: true}, {Head: "EXPIRES"}, {Head: "USED"}}}
	for _, token := range list {
		t.Add(s.IDText(token.ID), token.Name, string(token.Kind), token.Member, scopeList(token.Scopes), strings.Join(token.Projects, ","), expiryText(s, token), lastUsedText(s, token))
	}
	s.PrintTable(t, "there are no tokens; fermata token create NAME makes one")
	return nil
}

func scopeList(scopes []fermata.Scope) string {
	list := make([]string, len(scopes))
	for i, scope := range scopes {
		list[i] = string(scope)
	}
	return strings.Join(list, ",")
}

func expiryText(s *session.Session, t *fermata.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt == nil:
		return "never"
	default:
		return s.LeftText(t.ExpiresAt)
	}
}

func lastUsedText(s *session.Session, t *fermata.Token) string {
	if t.LastUsedAt == nil {
		return "never"
	}
	return s.AgoText(*t.LastUsedAt)
}

type tokenRevokeCommand struct {
	session.WriteFlags
	ID string `arg:"" help:"The token."`
}

func (tokenRevokeCommand) Help() string {
	return `Examples:

    fermata token revoke 3f9k2a`
}

func (c *tokenRevokeCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/tokens/"+c.ID, nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	token, err := server.RevokeToken(ctx, c.ID)
	if err != nil {
		return err
	}
	s.PrintDone(token.WorkspaceID, "revoked %s (%s)", token.ID, terminal.OneLine(token.Name))
	if s.JSON {
		return s.WriteJSON(token)
	}
	return nil
}
