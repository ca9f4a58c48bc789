package cli

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// givenFlags returns the names of the flags that are set, sorted.
func givenFlags(flags map[string]bool) []string {
	var names []string
	for name, set := range flags {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// checkUnreadFlags refuses the flags that are set. The requested action does not read them, so they would be dropped
// silently.
func checkUnreadFlags(action string, flags map[string]bool) error {
	unread := givenFlags(flags)
	if len(unread) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s cannot go with %s", strings.Join(unread, ", "), action).WithHint("leave one of them out")
}
