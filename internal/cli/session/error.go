package session

import (
	"errors"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// ErrQuit reports that the person wants to stop.
var ErrQuit = errors.New("quit")

// PrintError prints an error, each field at fault, and what to do next.
func (s *Session) PrintError(err error) {
	if s.JSON && s.printProblem(err) == nil {
		return
	}
	p := s.Stderr()
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		p.Line("%s %s", p.Red("error:"), terminal.Clean(err.Error()))
		return
	}
	p.Line("%s %s", p.Red("error:"), terminal.Clean(e.Error()))
	if len(e.Problems) > 1 || (len(e.Problems) == 1 && e.Problems[0].Field != "" && !isMentioned(e, e.Problems[0])) {
		for _, problem := range e.Problems {
			p.Line("  %s: %s", terminal.Clean(problem.Field), terminal.Clean(problem.Message))
		}
	}
	if hint := s.Hint(e); hint != "" {
		p.Line("hint: %s", terminal.Clean(hint))
	}
}

// AsError returns err as a [*fermata.Error], or false if it is not one.
func AsError(err error) (*fermata.Error, bool) { return errors.AsType[*fermata.Error](err) }

// Hint returns what to do about an error, or "" if nothing is known.
func (s *Session) Hint(e *fermata.Error) string {
	if e.Code == fermata.CodeUnauthenticated && s.Client != nil && !s.signedIn {
		return "run `fermata login`, or set FERMATA_TOKEN"
	}
	return e.Hint
}

// isMentioned reports whether the message already states the problem.
func isMentioned(e *fermata.Error, p fermata.Problem) bool {
	named := strings.HasPrefix(e.Message, "--") && strings.Contains(e.Message, ": "+p.Message)
	return named || e.Message == p.Field+": "+p.Message
}

// NotBuiltError returns the error for a command that this build of the program does not have.
func NotBuiltError(command string) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, "this program was built without %s", command)
}

// InputErrorf returns an error about a person's input.
func InputErrorf(format string, args ...any) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, format, args...)
}
