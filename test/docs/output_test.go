package docs_test

import (
	"fmt"
	"os/user"
	"regexp"
	"strings"
	"testing"
)

// compareOutput returns "" if the output has the lines that the page shows, in their order, and otherwise the problem.
// The output may have more lines. On the page … stands for any text. What differs from run to run is not compared.
func compareOutput(shown, output string) string {
	rest := strings.Split(plainOutput(output), "\n")
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(plain(line))
		if strings.Trim(line, "…") == "" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$")
		at := 0
		for at < len(rest) && !pattern.MatchString(strings.TrimSpace(rest[at])) {
			at++
		}
		if at == len(rest) {
			return fmt.Sprintf("the page shows a line that the commands do not print there: %s", line)
		}
		rest = rest[at+1:]
	}
	return ""
}

// replacement replaces a part of an output that differs from run to run.
type replacement struct {
	pattern *regexp.Regexp
	by      string
}

var replacements = []replacement{
	{regexp.MustCompile(`\b(fm[tl]|[a-z]{1,4})_[0-9A-Za-z]{16,}\b`), "${1}_ID"},
	{regexp.MustCompile(`\b(fermata [a-z]+( show)?|task) [0-9a-z]{6}\b`), "$1 ID"},
	{regexp.MustCompile(`\bwhsec_[\w+/=]+`), "SECRET"},
	{regexp.MustCompile(`\bfermata-audit\+\S+`), "KEY"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| UTC|\b)`), "TIME"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|µs|s|m|h|d))+\b`), "DURATION"},
	{regexp.MustCompile(`_seconds":[\d.]+`), `_seconds":N`},
	{regexp.MustCompile(`\b\d+ (event|checkpoint)s?\b`), "N ${1}s"},
	{regexp.MustCompile(`\bevent \d+\b`), "event N"},
	{regexp.MustCompile(`\bgo1[\w.]+, \w+/\w+`), "GO"},
	{regexp.MustCompile(`(/[\w.-]+)+/`), "/FOLDER/"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// plain replaces what differs from run to run.
func plain(text string) string {
	for _, r := range replacements {
		text = r.pattern.ReplaceAllString(text, r.by)
	}
	return text
}

// plainOutput is like plain. On the pages the user is anna.
func plainOutput(text string) string {
	text = strings.ReplaceAll(text, "\r", "")
	if u, err := user.Current(); err == nil {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(u.Username)+`\b`).ReplaceAllString(text, "anna")
	}
	return plain(text)
}

func TestCompareOutput(t *testing.T) {
	t.Parallel()
	output := "asked q_01m8hmq3b92x2r89k3mg (at 2026-11-28T17:55:01Z)\nwaiting: fermata respond 2r89k3\n\ndone  in 3s\n"
	for shown, want := range map[string]bool{
		"": true, "…\n": true, "asked q_01m8hmy0g6d7zn892h1c (at 2027-01-02T01:02:03Z)\n": true,
		"asked …\n…\ndone in 250ms\n": true, "waiting: fermata respond 892h1c\n": true,
		"done in 3s\nasked …\n": false, "asked\n": false, "waiting: fermata approve 2r89k3\n": false,
	} {
		if problem := compareOutput(shown, output); (problem == "") != want {
			t.Errorf("%q: got %q", shown, problem)
		}
	}
}
