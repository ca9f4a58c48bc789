package cli

import (
	"bytes"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

func TestNoTextOfAFindingReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := terminal.Printer{Out: &out, Width: 80}
	printFinding(p, finding{Check: "token", Status: "warn", Detail: rendertest.HiddenText})
	rendertest.CheckNothingHides(t, out.String())
}
