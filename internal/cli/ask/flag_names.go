package ask

import (
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// requestPath matches a path of a request in an error of the server, if a flag could have given that part.
var requestPath = lazyregexp.New(`\b(escalation|items|assignees|options|channels|reminders|approvals)((?:\[\d+\]|\.\w+)+)`)

// nameFlags replaces the fields in an error of the server with the flags of the command line. With --json the error
// stays as it is, because programs read the fields.
func (c *Command) nameFlags(s *session.Session, err error) error {
	e, ok := session.AsError(err)
	if !ok || s.JSON {
		return err
	}
	named := *e
	named.Message = requestPath().ReplaceAllStringFunc(e.Message, c.flagOf)
	named.Problems = nil
	for _, p := range e.Problems {
		named.Problems = append(named.Problems, fermata.Problem{Field: requestPath().ReplaceAllStringFunc(p.Field, c.flagOf), Message: p.Message})
	}
	return &named
}

// flagOf returns the flag that gave the part at a path of the request. If no flag gave it, it returns the path.
func (c *Command) flagOf(path string) string {
	for _, said := range []struct {
		name, flag string
		given      bool
	}{
		{"escalation", "--escalation", c.Escalation != ""},
		{"items", "--items", c.hasList},
		{"assignees", "--assign", len(c.Assign) > 0},
		{"options", "--option", len(c.Option) > 0},
		{"channels", "--via", len(c.Via) > 0},
		{"reminders", "--remind", len(c.Remind) > 0},
		{"approvals.required", "--approvals", c.Approvals != nil},
		{"approvals.self", "--self-approval", c.SelfApproval},
		{"approvals.reject", "--reject-at", c.RejectAt != ""},
	} {
		if rest, ok := strings.CutPrefix(path, said.name); ok && said.given {
			return session.FlagPath(said.flag, rest)
		}
	}
	return path
}
