package cli

import (
	"bufio"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/config"
)

// defaultWidth and defaultHeight are the size of a terminal that does not tell
// its own.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// session is one run of the program: where it reads and writes, and what it
// knows of the terminal.
type session struct {
	globals
	hooks Hooks
	stdin io.Reader
	lines *bufio.Reader
	// readBy is the flag for which standard input was read as a file; empty when it was not.
	readBy string
	out    io.Writer
	err    io.Writer
	// Which of the three is a terminal that a person sits at.
	inTerm, outTerm, errTerm bool
	width                    int
	color                    bool
	now                      func() time.Time

	address string
	client  *client.Client
	// signedIn says that the client has a token to show.
	signedIn bool
	// lost says that what is watched may be old: the connection broke.
	lost bool
}

func newSession(stdin io.Reader, stdout, stderr io.Writer, hooks Hooks) *session {
	s := &session{
		hooks: hooks, stdin: stdin, lines: bufio.NewReader(stdin), out: stdout, err: stderr,
		width: defaultWidth, now: time.Now,
	}
	_, s.inTerm = terminal(stdin)
	_, s.errTerm = terminal(stderr)
	file, ok := terminal(stdout)
	s.outTerm = ok
	if !ok {
		file, ok = terminal(stderr)
	}
	if ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			s.width = w
		}
	}
	s.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// resize reads the size of the terminal anew and returns its height.
func (s *session) resize() int {
	if file, ok := terminal(s.out); ok {
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			s.width = w
			return h
		}
	}
	return defaultHeight
}

// terminal returns the file behind a stream when it is a terminal.
func terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	return file, true
}

// interactive reports whether a person can be asked in forms.
func (s *session) interactive() bool {
	return s.inTerm && s.errTerm && !s.NoInput
}

// login reads what `fermata login` stored, and where that is.
func (s *session) login() (config.Login, string, error) {
	path, err := config.Path()
	if err != nil {
		// Without a home there is no stored login, and the rest works.
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
	s.client, err = client.New(s.address, token, client.WithUserAgent("fermata/"+s.hooks.version()))
	return s.client, err
}
