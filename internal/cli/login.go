package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type loginCommand struct{}

func (loginCommand) Help() string {
	return `The token is asked for without showing it, or read from standard input. It is stored for this server alone, in a file that only you can read.

Examples:

    fermata login --url https://fermata.example.com
    pass fermata | fermata login --url https://fermata.example.com`
}

func (c *loginCommand) Run(ctx context.Context, s *session) error {
	login, path, err := s.login()
	if err != nil {
		return err
	}
	if path == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "there is no config folder to store a login in").WithHint("set HOME")
	}
	address := login.Address(s.URL)
	token, err := s.readToken(ctx, address)
	if err != nil {
		return err
	}
	if token == "" {
		return errNoToken
	}
	if err := fermata.CheckSecret(token); err != nil {
		return err
	}
	server, err := client.New(address, token, client.WithUserAgent("fermata/"+s.programVersion))
	if err != nil {
		return err
	}
	me, err := server.Whoami(ctx)
	if err != nil {
		return err
	}
	if err := login.With(address, token).Save(path); err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(me)
	}
	s.address = address
	s.printDone(me.Workspace, "signed in as %s; stored in %s", oneLine(me.Name), path)
	return nil
}

// errNoToken is the error of a login without a token to store.
var errNoToken = fermata.Errorf(fermata.CodeInvalidRequest, "there is no token").
	WithHint("give it on standard input or as FERMATA_TOKEN")

// readToken reads the token from the environment, the terminal or standard
// input.
func (s *session) readToken(ctx context.Context, address string) (string, error) {
	if s.Token != "" {
		return s.Token, nil
	}
	if s.inTerm && s.NoInput {
		return "", errNoToken
	}
	if !s.inTerm {
		line, err := s.lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fermata.Internal("read the token", err)
		}
		return strings.TrimSpace(line), nil
	}
	token, err := s.readSecret(ctx, "token for "+address)
	return strings.TrimSpace(token), err
}
