package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
)

func TestNoTextOfAnErrorReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := New(strings.NewReader(""), &out, &out, "")
	s.PrintError(fermata.Errorf(fermata.CodeInternal, "%s", rendertest.HiddenText).WithHint("%s", rendertest.HiddenText))
	s.PrintError(fermata.Invalid(fermata.Problem{Field: rendertest.HiddenText, Message: rendertest.HiddenText}, fermata.Problem{Field: rendertest.HiddenText, Message: rendertest.HiddenText}))
	rendertest.CheckNothingHides(t, out.String())
}
