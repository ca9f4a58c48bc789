package access

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// LogoutCommand is fermata logout: it removes the stored token of a server.
type LogoutCommand struct{}

// Help returns the description and the examples that --help prints.
func (LogoutCommand) Help() string {
	return `The token is removed from this machine only. It stays valid: an admin makes it void with fermata token revoke.

Examples:

    fermata logout
    fermata logout --url https://fermata.example.com`
}

// Run runs the command.
func (c *LogoutCommand) Run(s *session.Session) error {
	login, path, err := s.Login()
	if err != nil {
		return err
	}
	address := login.Address(s.URL)
	if login.Token(address) == "" {
		return fermata.Errorf(fermata.CodeNotFound, "no token is stored for %s", address).
			WithHint("name the server with --url; a token in FERMATA_TOKEN is not stored: unset FERMATA_TOKEN")
	}
	if err := login.WithoutToken(address).Save(path); err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(map[string]string{"url": address})
	}
	s.PrintDone(address, "the token for %s was removed from %s", address, path)
	return nil
}
