package cli

import "fmt"

// write holds the flags of every command that changes something.
type write struct {
	DryRun bool `name:"dry-run" help:"Print what would be sent, and send nothing."`
}

// printDryRun prints the request that a command would send. It reports whether
// the command is a dry run.
func (s *session) printDryRun(w write, method, path string, body any) (bool, error) {
	if !w.DryRun {
		return false, nil
	}
	if _, err := s.server(); err != nil {
		return true, err
	}
	s.talk().line("dry run: would send %s %s/v1%s", method, s.address, path)
	if body == nil {
		body = struct{}{}
	}
	return true, s.json(body)
}

// printDone prints on standard error what was done, and on which server.
func (s *session) printDone(workspace, format string, args ...any) {
	place := s.address
	if workspace != "" {
		place += ", workspace " + clean(workspace)
	}
	s.talk().line("%s (%s)", fmt.Sprintf(format, args...), place)
}
