package cli

import (
	"regexp"
	"slices"
	"strings"
)

// tokenFromFlag returns the token of a flag. A value that begins with @ names a file with the token.
func (s *session) tokenFromFlag(flag, given string) (string, error) {
	name, isFile := strings.CutPrefix(given, "@")
	if !isFile {
		return given, nil
	}
	data, err := s.readFile(flag, name, maxFileSize)
	return strings.TrimSpace(string(data)), err
}

// secretInArguments matches a token in a command line.
var secretInArguments = regexp.MustCompile(`\bfm[a-z]_[0-9A-Za-z]{20,}`)

// warnOfSecrets warns a person who starts a long-running program with a token on the command line, because every user
// of the machine can see it.
func (s *session) warnOfSecrets(args []string) {
	if slices.ContainsFunc(args, secretInArguments.MatchString) {
		s.stderr().line("%s a token on the command line is shown to every user of this machine (ps): use FERMATA_TOKEN and FERMATA_AGENT_TOKEN, or @FILE", s.stderr().yellow("warning:"))
	}
}
