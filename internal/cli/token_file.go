package cli

import (
	"regexp"
	"slices"
	"strings"
)

// tokenOf returns the token of a flag; one that begins with @ names the file that holds it.
func (s *session) tokenOf(flag, given string) (string, error) {
	name, isFile := strings.CutPrefix(given, "@")
	if !isFile {
		return given, nil
	}
	data, err := s.readFile(flag, name, mostInFile)
	return strings.TrimSpace(string(data)), err
}

// secretInArguments finds a token in a command line.
var secretInArguments = regexp.MustCompile(`\bfm[a-z]_[0-9A-Za-z]{20,}`)

// warnOfSecrets tells who starts a program that runs for long that everybody on the machine sees its command line.
func (s *session) warnOfSecrets(args []string) {
	if slices.ContainsFunc(args, secretInArguments.MatchString) {
		s.talk().line("%s a token on the command line is shown to every user of this machine (ps): use FERMATA_TOKEN and FERMATA_AGENT_TOKEN, or @FILE", s.talk().yellow("warning:"))
	}
}
