package cli

import (
	"slices"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// secretInArguments matches a token in a command line.
var secretInArguments = lazyregexp.New(`\bfm[a-z]_[0-9A-Za-z]{20,}`)

// warnOfSecrets warns a person who starts a long-running program with a token on the command line, because every user
// of the machine can see it.
func warnOfSecrets(s *session.Session, args []string) {
	if slices.ContainsFunc(args, secretInArguments().MatchString) {
		s.Stderr().Line("%s a token on the command line is shown to every user of this machine (ps): use FERMATA_TOKEN and FERMATA_AGENT_TOKEN, or @FILE", s.Stderr().Yellow("warning:"))
	}
}
