package terminal

import (
	"github.com/fermata-hq/fermata/internal/notice"
)

// Clean makes text safe for a terminal; see [notice.Clean].
func Clean(s string) string { return notice.Clean(s) }

// CleanStrictly shows the exact text that a person consents to; see
// [notice.CleanStrictly].
func CleanStrictly(s string) string { return notice.CleanStrictly(s) }

// OneLine makes a text fit into a cell; see [notice.OneLine].
func OneLine(s string) string { return notice.OneLine(s) }
