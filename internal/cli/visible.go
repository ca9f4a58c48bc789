package cli

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// clean makes text safe for the terminal; see [notice.Clean].
func clean(s string) string { return notice.Clean(s) }

// visibleExact shows what a person consents to; see [notice.Exact].
func visibleExact(s string) string { return notice.Exact(s) }

// oneLine makes a text fit a cell; see [notice.OneLine].
func oneLine(s string) string { return notice.OneLine(s) }

// badPick refuses what a person typed.
func badPick(format string, args ...any) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, format, args...)
}
