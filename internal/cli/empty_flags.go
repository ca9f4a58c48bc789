package cli

import (
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata"
)

// checkEmptyFlags refuses flags with an empty value on the command line. Such a value most often comes from an unset
// variable of a script: the request would silently lose a field, or a folder would be the current one. A flag that
// accepts an empty value is a pointer.
func checkEmptyFlags(parsed *kong.Context, args []string) error {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i] // the rest belongs to another program
	}
	for _, part := range parsed.Path {
		if part.Flag == nil || part.Flag.Target.Kind() == reflect.Pointer || !hasEmptyValue(part.Flag, args) {
			continue
		}
		return fermata.Errorf(fermata.CodeInvalidRequest, "--%s: the value is empty", part.Flag.Name).WithHint("give it a value, or leave the flag out")
	}
	return nil
}

// hasEmptyValue reports whether the arguments give the flag an empty value.
func hasEmptyValue(flag *kong.Flag, args []string) bool {
	names := []string{"--" + flag.Name}
	if flag.Short != 0 {
		names = append(names, "-"+string(flag.Short))
	}
	for i, arg := range args {
		for _, name := range names {
			if arg == name+"=" || arg == name && !flag.IsBool() && i+1 < len(args) && args[i+1] == "" {
				return true
			}
		}
	}
	return false
}
