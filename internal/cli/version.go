package cli

import (
	"runtime"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

type versionCommand struct{}

func (versionCommand) Run(s *session.Session) error {
	if s.JSON {
		return s.WriteJSON(map[string]string{"version": s.ProgramVersion, "go": runtime.Version()})
	}
	s.Stdout().Line("fermata %s (%s, %s/%s)", s.ProgramVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

func (versionCommand) Help() string {
	return `Examples:

    fermata version --json`
}
