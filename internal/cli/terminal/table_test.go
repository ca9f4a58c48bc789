package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
)

func TestNoTextOfACellReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(strings.NewReader(""), &out, &out)
	c.PrintTable(&Table{Columns: []Column{{Head: "X"}}, rows: [][]string{{rendertest.HiddenText}}}, "")
	rendertest.CheckNothingHides(t, out.String())
}

func TestTableFits(t *testing.T) {
	t.Parallel()
	table := &Table{Columns: []Column{{Head: "ID"}, {Head: "TITLE", Flex: true}, {Head: "PROJECT", Flex: true}}}
	table.Add("3f9k2a", strings.Repeat("漢字 ", 40), "shop")
	table.Add("b", "short\nline", strings.Repeat("p", 30))
	var out strings.Builder
	for _, line := range table.lines(60) {
		if w := ansi.StringWidth(line); w > 60 {
			t.Errorf("%q is %d wide", line, w)
		}
		out.WriteString(line + "\n")
	}
	rendertest.Golden(t, "table.txt", out.String())
}
