package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every command refuses a flag with a single value that is given twice, and the error names the flag.
func TestNoCommandDropsARepeatedFlag(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, leaf := range commands(t) {
		if slices.Contains(longRunningCommands, leaf.Name) {
			continue
		}
		for _, flag := range leaf.Flags {
			if flag.Target.Kind() != reflect.String {
				continue
			}
			tried++
			given := "--" + flag.Name + "=" + firstOf(flag.Enum)
			args := slices.Concat(strings.Fields(leaf.FullPath())[1:], positionals(leaf), requiredFlags(leaf, flag), []string{given, given})
			if out := failureText(t, args); !strings.Contains(out, "--"+flag.Name+" is given twice") {
				t.Errorf("%q says %q", args, out)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d flags were tried", tried)
	}
}

// Every command refuses an extra argument, and the error names it.
func TestNoCommandDropsAnArgument(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, leaf := range commands(t) {
		if slices.ContainsFunc(leaf.Positional, func(arg *kong.Positional) bool { return arg.IsCumulative() || arg.Passthrough }) {
			continue
		}
		tried++
		args := strings.Fields(leaf.FullPath())[1:]
		for _, arg := range leaf.Positional {
			args = append(args, firstOf(arg.Enum))
		}
		if out := failureText(t, append(args, "unwanted")); !strings.Contains(out, "unwanted") {
			t.Errorf("%s says %q", leaf.FullPath(), out)
		}
	}
	if tried < 50 {
		t.Errorf("only %d commands were tried", tried)
	}
}

// firstOf returns the first non-empty value of a list, or 1.
func firstOf(enum string) string {
	for value := range strings.SplitSeq(enum, ",") {
		if value != "" {
			return value
		}
	}
	return "1"
}
