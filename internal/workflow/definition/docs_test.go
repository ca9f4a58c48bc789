package definition_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// The reference documents every field and every function, and its example
// loads.
func TestReference(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/workflow-file.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	var schema struct {
		Properties map[string]any `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(definition.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range schema.Properties {
		names[name] = true
	}
	for _, def := range schema.Defs {
		for name := range def.Properties {
			names[name] = true
		}
	}
	for name := range names {
		if !strings.Contains(text, name) {
			t.Errorf("docs/reference/workflow-file.md does not name the field %s", name)
		}
	}
	for _, name := range expression.Functions() {
		if !strings.Contains(text, name) {
			t.Errorf("docs/reference/workflow-file.md does not name the function %s", name)
		}
	}
	_, example, _ := strings.Cut(text, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if w, problems := definition.Load([]byte(example), known); w == nil || len(problems) > 0 {
		t.Errorf("the example: %v", problems)
	}
	_, shown, _ := strings.Cut(text, "```text\n8:16")
	shown, _, _ = strings.Cut("8:16"+shown, "\n```")
	_, problems := loadWithoutNote(start + step + "    condition: !done\n")
	if got := problems[0].String() + "\n" + problems[0].Excerpt; got != shown {
		t.Errorf("the page shows\n%s\nand the loader says\n%s", shown, got)
	}
}
