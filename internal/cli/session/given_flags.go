package session

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// GivenFlags returns the names of the flags that are set, sorted.
func GivenFlags(flags map[string]bool) []string {
	var names []string
	for name, set := range flags {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// CheckUnreadFlags refuses the flags that are set. The requested action does not read them, so they would be dropped
// silently.
func CheckUnreadFlags(action string, flags map[string]bool) error {
	unread := GivenFlags(flags)
	if len(unread) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s cannot go with %s", strings.Join(unread, ", "), action).WithHint("leave one of them out")
}

// CheckUniqueNames refuses NAME=VALUE pairs with the same name, because one of them would silently be lost. The prefix
// stands before the name in the error.
func CheckUniqueNames(prefix string, settings []string) error {
	seen := map[string]bool{}
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		if seen[name] {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%s%s is given twice", prefix, name).WithHint("say it once")
		}
		seen[name] = true
	}
	return nil
}
