package cli

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// clean makes text safe for a terminal; see [notice.Clean].
func clean(s string) string { return notice.Clean(s) }

// visibleExact shows the exact text that a person consents to; see
// [notice.CleanStrictly].
func visibleExact(s string) string { return notice.CleanStrictly(s) }

// oneLine makes a text fit into a cell; see [notice.OneLine].
func oneLine(s string) string { return notice.OneLine(s) }

// inputErrorf returns an error about a person's input.
func inputErrorf(format string, args ...any) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, format, args...)
}
