package session

import (
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/config"
)

// Globals are the flags that every command has.
type Globals struct {
	URL     string           `name:"url" env:"FERMATA_URL" placeholder:"URL" help:"Server to talk to (default: the one of fermata login, else http://127.0.0.1:7433)."`
	Token   string           `env:"FERMATA_TOKEN" placeholder:"TOKEN" help:"Token to show; better set in the environment, stored by fermata login, or read from @FILE."`
	JSON    bool             `name:"json" help:"Print JSON; streams print one document a line."`
	NoInput bool             `name:"no-input" help:"Never ask anything at the terminal."`
	Version kong.VersionFlag `name:"version" help:"Print the version."`
}

// Session is one run of the program: its console, its global flags and the server that it talks to.
type Session struct {
	Globals
	terminal.Console
	// ProgramVersion is the version that the program reports to people and servers.
	ProgramVersion string
	// stdinFlag is the flag that read standard input as a file. It is empty if none did.
	stdinFlag string

	// Address is the address of the server, and Client its client. [Session.Server] sets both; before its first call
	// they are empty.
	Address string
	Client  *client.Client
	// signedIn reports whether the client has a token.
	signedIn bool
	// Disconnected reports that the connection broke, so the shown state may be old.
	Disconnected bool
}

// New returns the session of the three streams. The caller sets the global flags.
func New(stdin io.Reader, stdout, stderr io.Writer, programVersion string) *Session {
	return &Session{Console: terminal.New(stdin, stdout, stderr), ProgramVersion: programVersion}
}

// SetGlobals sets the flags that every command has, and what follows from them for the console.
func (s *Session) SetGlobals(g Globals) {
	s.Globals, s.NeverAsk = g, g.NoInput
}

// Login returns the login that `fermata login` stored, and the path of its file.
func (s *Session) Login() (config.Login, string, error) {
	path, err := config.LoginPath()
	if err != nil {
		// Without a home there is no stored login, but everything else works.
		return config.Login{}, "", nil //nolint:nilerr // see above
	}
	l, err := config.LoadLogin(path)
	return l, path, err
}

// Server returns the client of the server that the command talks to.
func (s *Session) Server() (*client.Client, error) {
	if s.Client != nil {
		return s.Client, nil
	}
	login, _, err := s.Login()
	if err != nil {
		return nil, err
	}
	s.Address = login.Address(s.URL)
	token := s.Token
	if token == "" {
		token = login.Token(s.Address)
	}
	s.signedIn = token != ""
	s.Client, err = client.New(s.Address, token, client.WithUserAgent("fermata/"+s.ProgramVersion))
	return s.Client, err
}

// CanDrawScreen reports whether a person uses a terminal that the program can draw
// on.
func (s *Session) CanDrawScreen() bool {
	return s.InTerm && s.OutTerm && !s.NoInput && !s.JSON && os.Getenv("TERM") != "dumb"
}
