package cli

import (
	"io"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/config"
)

// globals are the flags that every command has.
type globals struct {
	URL     string           `name:"url" env:"FERMATA_URL" placeholder:"URL" help:"Server to talk to (default: the one of fermata login, else http://127.0.0.1:7433)."`
	Token   string           `env:"FERMATA_TOKEN" placeholder:"TOKEN" help:"Token to show; better set in the environment, stored by fermata login, or read from @FILE."`
	JSON    bool             `name:"json" help:"Print JSON; streams print one document a line."`
	NoInput bool             `name:"no-input" help:"Never ask anything at the terminal."`
	Version kong.VersionFlag `name:"version" help:"Print the version."`
}

// session is one run of the program: its console, its global flags and the server that it talks to.
type session struct {
	globals
	console
	// programVersion is the version that the program reports to people and servers.
	programVersion string
	// stdinFlag is the flag that read standard input as a file. It is empty if none did.
	stdinFlag string

	address string
	client  *client.Client
	// signedIn reports whether the client has a token.
	signedIn bool
	// disconnected reports that the connection broke, so the shown state may be old.
	disconnected bool
}

// newSession returns the session of the three streams. The caller sets the global flags.
func newSession(stdin io.Reader, stdout, stderr io.Writer, programVersion string) *session {
	return &session{console: newConsole(stdin, stdout, stderr), programVersion: programVersion}
}

// setGlobals sets the flags that every command has.
func (s *session) setGlobals(g globals) {
	s.globals, s.neverAsk = g, g.NoInput
}

// login returns the login that `fermata login` stored, and the path of its file.
func (s *session) login() (config.Login, string, error) {
	path, err := config.Path()
	if err != nil {
		// Without a home there is no stored login, but everything else works.
		return config.Login{}, "", nil //nolint:nilerr // see above
	}
	l, err := config.Load(path)
	return l, path, err
}

// server returns the client of the server that the command talks to.
func (s *session) server() (*client.Client, error) {
	if s.client != nil {
		return s.client, nil
	}
	login, _, err := s.login()
	if err != nil {
		return nil, err
	}
	s.address = login.Address(s.URL)
	token := s.Token
	if token == "" {
		token = login.Token(s.address)
	}
	s.signedIn = token != ""
	s.client, err = client.New(s.address, token, client.WithUserAgent("fermata/"+s.programVersion))
	return s.client, err
}
