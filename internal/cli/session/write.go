package session

import (
	"fmt"

	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// WriteFlags holds the flags of every command that changes something.
type WriteFlags struct {
	DryRun bool `name:"dry-run" help:"Print what would be sent, and send nothing."`
}

// PrintDryRun prints the request that a command would send. It reports whether
// the command is a dry run.
func (s *Session) PrintDryRun(w WriteFlags, method, path string, body any) (bool, error) {
	if !w.DryRun {
		return false, nil
	}
	if _, err := s.Server(); err != nil {
		return true, err
	}
	s.Stderr().Line("dry run: would send %s %s/v1%s", method, s.Address, path)
	if body == nil {
		body = struct{}{}
	}
	return true, s.WriteJSON(body)
}

// PrintDone prints on standard error what was done, and on which server.
func (s *Session) PrintDone(workspace, format string, args ...any) {
	location := s.Address
	if workspace != "" {
		location += ", workspace " + terminal.Clean(workspace)
	}
	s.Stderr().Line("%s (%s)", fmt.Sprintf(format, args...), location)
}
