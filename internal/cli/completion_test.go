package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

func TestEveryCommandHasExamples(t *testing.T) {
	t.Parallel()
	var cli root
	parser, err := newParser(&cli, session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		if !strings.Contains(leaf.Detail, "Examples:") {
			t.Errorf("%s has no examples", leaf.Path())
		}
	}
}
