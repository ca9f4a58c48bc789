package cli

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
)

type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Make a token and print its secret once."`
	List   tokenListCommand   `cmd:"" help:"List the tokens."`
	Revoke tokenRevokeCommand `cmd:"" help:"End a token."`
}

type tokenCreateCommand struct {
	write
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

func (c *tokenCreateCommand) Run(ctx context.Context, s *session) error {
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
	if done, err := s.printDryRun(c.write, "POST", "/tokens", n); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	token, err := server.CreateToken(ctx, n)
	if err != nil {
		return err
	}
	s.printDone(token.WorkspaceID, "made %s for %s", token.ID, oneLine(token.Name))
	if token.Secret == "" {
		// The call was retried, and only the first reply held the secret.
		return fermata.Errorf(fermata.CodeUnavailable, "the reply with the secret was lost on its way").
			WithHint("fermata token revoke %s, then make another", shortID(token.ID))
	}
	if s.JSON {
		return s.writeJSON(token)
	}
	s.stdout().line("%s", token.Secret)
	return nil
}

type tokenListCommand struct {
	All bool `help:"Also those that were revoked."`
}

func (tokenListCommand) Help() string {
	return `Examples:

    fermata token list`
}

func (c *tokenListCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
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
		return s.writeJSON(list)
	}
	t := &table{columns: []column{{head: "ID"}, {head: "NAME", flex: true}, {head: "KIND"}, {head: "MEMBER", flex: true}, {head: "SCOPES", flex: true}, {head: "PROJECTS", flex: true}, {head: "EXPIRES"}, {head: "USED"}}}
	for _, token := range list {
		t.add(s.idText(token.ID), token.Name, string(token.Kind), token.Member, scopeList(token.Scopes), strings.Join(token.Projects, ","), s.expiryText(token), s.lastUsedText(token))
	}
	s.printTable(t, "there are no tokens; fermata token create NAME makes one")
	return nil
}

func scopeList(scopes []fermata.Scope) string {
	list := make([]string, len(scopes))
	for i, scope := range scopes {
		list[i] = string(scope)
	}
	return strings.Join(list, ",")
}

func (s *session) expiryText(t *fermata.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt == nil:
		return "never"
	default:
		return s.leftText(t.ExpiresAt)
	}
}

func (s *session) lastUsedText(t *fermata.Token) string {
	if t.LastUsedAt == nil {
		return "never"
	}
	return s.agoText(*t.LastUsedAt)
}

type tokenRevokeCommand struct {
	write
	ID string `arg:"" help:"The token."`
}

func (tokenRevokeCommand) Help() string {
	return `Examples:

    fermata token revoke 3f9k2a`
}

func (c *tokenRevokeCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "DELETE", "/tokens/"+c.ID, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	token, err := server.RevokeToken(ctx, c.ID)
	if err != nil {
		return err
	}
	s.printDone(token.WorkspaceID, "revoked %s (%s)", token.ID, oneLine(token.Name))
	if s.JSON {
		return s.writeJSON(token)
	}
	return nil
}
