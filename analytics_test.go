package fermata_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestAlike(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Deploy build 7?": "deploy build #?", " Deploy  BUILD\t8? ": "deploy build #?", "Which port, 8080 or v1.2?": "which port, # or #?",
		"Żółw?": "żółw?", "": "", "7": "#", "May I?": "may i?", strings.Repeat("ż", 100): strings.Repeat("ż", 80),
		strings.Repeat("ab ", 27): strings.TrimSpace(strings.Repeat("ab ", 27)),
	} {
		if got := fermata.TitlePattern(title); got != want {
			t.Errorf("Alike(%q) = %q, want %q", title, got, want)
		}
	}
}
