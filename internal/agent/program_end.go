package agent

import (
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// maxFailureText is the length of the longest reason of a failed program, in characters.
const maxFailureText = 4096

// ProgramFailureText returns the reason why the task of a program failed: how the program ended, such as "exit status
// 1", and its last lines. Those are the last lines of its error output, or else of its output.
func ProgramFailureText(end string, lastOutput, lastErrors []string) string {
	last := lastErrors
	if len(last) == 0 {
		last = lastOutput
	}
	return fermata.Truncate(strings.TrimSpace(fmt.Sprintf("The program ended with %s.\n%s", end, strings.Join(last, "\n"))), maxFailureText)
}

// LastLines returns the last lines of an output that are not blank, as [ProgramFailureText] takes them.
func LastLines(output string) []string {
	var last []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			last = AppendTail(last, line)
		}
	}
	return last
}
