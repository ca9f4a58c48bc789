package cli

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// longRunningCommands are the commands that run for a long time.
var longRunningCommands = []string{"serve", "worker", "mcp", "demo"}

// checkRepeatedFlags refuses a flag that stands twice on the command line although only one value is read. The other
// value would silently be lost. A switch that is set twice loses nothing. For long-running commands the last value
// counts, so that a unit or a script can override a flag.
func checkRepeatedFlags(parsed *kong.Context, args []string) error {
	if slices.Contains(longRunningCommands, parsed.Selected().Name) {
		return nil
	}
	seen := map[*kong.Flag]bool{}
	for _, part := range parsed.Path {
		flag := part.Flag
		if flag != nil && flag.IsMap() {
			if err := session.CheckUniqueNames("--"+flag.Name+" ", valuesOf(flag, args)); err != nil {
				return err
			}
		}
		if flag == nil || part.Resolved || flag.IsCumulative() || flag.Target.Kind() == reflect.Bool {
			continue
		}
		if seen[flag] {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--%s is given twice, and takes one value", flag.Name).WithHint("say it once")
		}
		seen[flag] = true
	}
	return nil
}

// valuesOf returns the values that the arguments give to a flag.
func valuesOf(flag *kong.Flag, args []string) (values []string) {
	name := "--" + flag.Name
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			values = append(values, value)
		} else if arg == name && i+1 < len(args) {
			values = append(values, args[i+1])
		}
	}
	return values
}
