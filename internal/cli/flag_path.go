package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// flagFieldError returns the error about a field of JSON in a flag, or in the file that the flag names. The entries of a
// list count from 1, as people count.
func flagFieldError(flag, file string, data []byte, fieldErr *strictjson.FieldError) *fermata.Error {
	path := fieldErr.Field
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		path = listPath(path)
	}
	where := ""
	if file != "" {
		where = " in " + fileLabel(file)
	}
	e := flagErrorf(flagPath(flag, path), "%s%s", fieldErr.Message, where)
	e.Problems = []fermata.Problem{{Field: path, Message: fieldErr.Message}}
	return e
}

// listPath puts the list index at the beginning of a path into brackets: 0.prompt becomes [0].prompt.
func listPath(path string) string {
	digits := len(path) - len(strings.TrimLeft(path, "0123456789"))
	if digits == 0 {
		return path
	}
	return "[" + path[:digits] + "]" + path[digits:]
}

// indexPattern matches a list index in a path, with the dot after it.
var indexPattern = regexp.MustCompile(`\[(\d+)\]\.?`)

// flagPath returns a path below the flag that holds it, such as "--escalation, entry 1: assignee" for [0].assignee. A
// path of an object stays as the API writes it.
func flagPath(flag, path string) string {
	if path == "" {
		return flag
	}
	if !strings.HasPrefix(path, "[") {
		return flag + ": " + path
	}
	entries := indexPattern.ReplaceAllStringFunc(path, func(found string) string {
		n, err := strconv.Atoi(indexPattern.FindStringSubmatch(found)[1])
		if err != nil {
			return found
		}
		return fmt.Sprintf(", entry %d: ", n+1)
	})
	return flag + strings.TrimSuffix(entries, ": ")
}

// requestPath matches a path of a request in an error of the server, if a flag could have given that part.
var requestPath = regexp.MustCompile(`\b(escalation|items|assignees|options|channels|reminders|approvals)((?:\[\d+\]|\.\w+)+)`)

// nameFlags replaces the fields in an error of the server with the flags of the command line. With --json the error
// stays as it is, because programs read the fields.
func (c *askCommand) nameFlags(s *session, err error) error {
	e, ok := asError(err)
	if !ok || s.JSON {
		return err
	}
	named := *e
	named.Message = requestPath.ReplaceAllStringFunc(e.Message, c.flagOf)
	named.Problems = nil
	for _, p := range e.Problems {
		named.Problems = append(named.Problems, fermata.Problem{Field: requestPath.ReplaceAllStringFunc(p.Field, c.flagOf), Message: p.Message})
	}
	return &named
}

// flagOf returns the flag that gave the part at a path of the request. If no flag gave it, it returns the path.
func (c *askCommand) flagOf(path string) string {
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
			return flagPath(said.flag, rest)
		}
	}
	return path
}
