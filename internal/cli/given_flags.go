package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// given returns the names of the flags that are set, sorted.
func given(flags map[string]bool) []string {
	maps.DeleteFunc(flags, func(_ string, set bool) bool { return !set })
	return slices.Sorted(maps.Keys(flags))
}

// checkUnread refuses the flags that are set: what was asked for does not read them, so
// they would be dropped in silence.
func checkUnread(asked string, flags map[string]bool) error {
	unread := given(flags)
	if len(unread) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s cannot go with %s", strings.Join(unread, ", "), asked).WithHint("leave one of them out")
}
