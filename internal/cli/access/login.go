package access

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// LoginCommand is fermata login: it stores the server and the token that later commands use.
type LoginCommand struct{}

// Help returns the description and the examples that --help prints.
func (LoginCommand) Help() string {
	return `The token is asked for without showing it, or read from standard input. It is stored for this server alone, in a file that only you can read.

Examples:

    fermata login --url https://fermata.example.com
    pass fermata | fermata login --url https://fermata.example.com`
}

// Run runs the command.
func (c *LoginCommand) Run(ctx context.Context, s *session.Session) error {
	login, path, err := s.Login()
	if err != nil {
		return err
	}
	if path == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "there is no config folder to store a login in").WithHint("set HOME")
	}
	address := login.Address(s.URL)
	token, err := readToken(ctx, s, address)
	if err != nil {
		return err
	}
	if token == "" {
		return errNoToken
	}
	if err := fermata.CheckSecret(token); err != nil {
		return err
	}
	server, err := client.New(address, token, client.WithUserAgent("fermata/"+s.ProgramVersion))
	if err != nil {
		return err
	}
	me, err := server.Whoami(ctx)
	if err != nil {
		return err
	}
	if err := login.WithToken(address, token).Save(path); err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(me)
	}
	s.Address = address
	s.PrintDone(me.Workspace, "signed in as %s; stored in %s", terminal.OneLine(me.Name), path)
	return nil
}

// errNoToken is the error of a login without a token to store.
var errNoToken = fermata.Errorf(fermata.CodeInvalidRequest, "there is no token").
	WithHint("give it on standard input or as FERMATA_TOKEN")

// readToken reads the token from the environment, the terminal or standard
// input.
func readToken(ctx context.Context, s *session.Session, address string) (string, error) {
	if s.Token != "" {
		return s.Token, nil
	}
	if s.InTerm && s.NoInput {
		return "", errNoToken
	}
	if !s.InTerm {
		line, err := s.Lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fermata.Internal("read the token", err)
		}
		return strings.TrimSpace(line), nil
	}
	token, err := s.ReadSecret(ctx, "token for "+address)
	return strings.TrimSpace(token), err
}
