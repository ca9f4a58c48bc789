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
	s.stderr().line("dry run: would send %s %s/v1%s", method, s.address, path)
	if body == nil {
		body = struct{}{}
	}
	return true, s.writeJSON(body)
}

// printDone prints on standard error what was done, and on which server.
func (s *session) printDone(workspace, format string, args ...any) {
	location := s.address
	if workspace != "" {
		location += ", workspace " + clean(workspace)
	}
	s.stderr().line("%s (%s)", fmt.Sprintf(format, args...), location)
}
