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

// defaultWidth and defaultHeight are the size of a terminal that does not report its own.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// session is one run of the program, with its input, its output and the properties of its terminal.
type session struct {
	globals
	hooks Hooks
	stdin io.Reader
	lines *bufio.Reader
	// stdinFlag is the flag that read standard input as a file. It is empty if none did.
	stdinFlag string
	out       io.Writer
	errOut    io.Writer
	// inTerm, outTerm and errTerm report whether each stream is a terminal that a person uses.
	inTerm, outTerm, errTerm bool
	width                    int
	color                    bool
	now                      func() time.Time

	address string
	client  *client.Client
	// signedIn reports whether the client has a token.
	signedIn bool
	// disconnected reports that the connection broke, so the shown state may be old.
	disconnected bool
}

func newSession(stdin io.Reader, stdout, stderr io.Writer, hooks Hooks) *session {
	s := &session{
		hooks: hooks, stdin: stdin, lines: bufio.NewReader(stdin), out: stdout, errOut: stderr,
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

// updateSize reads the size of the terminal again and returns its height.
func (s *session) updateSize() int {
	if file, ok := terminal(s.out); ok {
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 20 {
			s.width = w
			return h
		}
	}
	return defaultHeight
}

// terminal returns the file behind a stream if it is a terminal.
func terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	return file, true
}

// isInteractive reports whether forms can ask a person.
func (s *session) isInteractive() bool {
	return s.inTerm && s.errTerm && !s.NoInput
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
	s.client, err = client.New(s.address, token, client.WithUserAgent("fermata/"+s.hooks.version()))
	return s.client, err
}
