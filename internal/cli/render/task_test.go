package render

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

func TestNoTextOfAnAgentReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	bad := rendertest.HiddenText
	var out bytes.Buffer
	p := terminal.Printer{Out: &out, Width: 80}
	PrintTask(p, rendertest.HiddenTask(), rendertest.Noon)
	PrintMessages(p, []*fermata.Message{{Author: fermata.Actor{Name: bad}, Body: bad}}, true, rendertest.Noon)
	data, _ := json.Marshal(map[string]string{"title": bad, "body": bad})
	PrintEventLine(p, &fermata.Event{Actor: fermata.Actor{Name: bad}, Data: data})
	rendertest.CheckNothingHides(t, out.String())
}
