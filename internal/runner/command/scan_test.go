package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

func TestProgressLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]fermata.Progress{
		`nearly there`: {Message: "nearly there"},
		`{"message":"half way","step":"two","current":1,"total":2,"token":7}`: {Message: "half way", Step: "two", Current: 1, Total: 2},
		// No text of an agent is dropped silently.
		`{"message":"half way","now":1}`: {Message: `{"message":"half way","now":1} (now: is no known field; names are exact)`},
		`{"step":"two"}`:                 {Message: `{"step":"two"} (message: is missing)`},
		`{3 of 4} built`:                 {Message: `{3 of 4} built`},
	} {
		var got []fermata.Progress
		s := newScanner(func(p fermata.Progress) { got = append(got, p) }, maxOutput)
		_, _ = s.Write([]byte(progressMark + line + "\n"))
		if diff := cmp.Diff([]fermata.Progress{want}, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}
