// Package lazyregexp compiles regular expressions at their first use. A package that compiles them when it is loaded
// adds their time to the start of every command, also of those that use none of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression. The first call compiles it, and panics if the
// expression is not valid. Calls at the same time are safe.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
