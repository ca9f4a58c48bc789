package cli

import "runtime"

type versionCommand struct{}

func (versionCommand) Run(s *session) error {
	if s.JSON {
		return s.writeJSON(map[string]string{"version": s.programVersion, "go": runtime.Version()})
	}
	s.stdout().line("fermata %s (%s, %s/%s)", s.programVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

func (versionCommand) Help() string {
	return `Examples:

    fermata version --json`
}
