package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, clean, exact string }{
		{"plain", "a b\n\tc", "a b\n\tc", "a b\n\tc"},
		{"colour", "\x1b[31mred", "⟨U+001B⟩[31mred", "⟨U+001B⟩[31mred"},
		{"one byte CSI", "a\u009b2J", "a⟨U+009B⟩2J", "a⟨U+009B⟩2J"},
		{"overwriting", "safe\rrm -rf", "safe⟨U+000D⟩rm -rf", "safe⟨U+000D⟩rm -rf"},
		{"Windows line end", "a\r\nb", "a\nb", "a⟨U+000D⟩\nb"},
		{"turned text", "a\u202eb\u2066", "a⟨U+202E⟩b⟨U+2066⟩", "a⟨U+202E⟩b⟨U+2066⟩"},
		{"zero width", "r\u200bm", "r⟨U+200B⟩m", "r⟨U+200B⟩m"},
		{"tags", "a\U000e0041", "a⟨U+E0041⟩", "a⟨U+E0041⟩"},
		{"fillers", "\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩", "⟨U+3164⟩⟨U+2800⟩"},
		{"odd space", "rm\u00a0-rf", "rm\u00a0-rf", "rm⟨U+00A0⟩-rf"},
		{"joiner", "👩\u200d💻", "👩\u200d💻", "👩⟨U+200D⟩💻"},
		{"bad UTF-8", "a\xffb\ufffd", "a⟨0xFF⟩b\ufffd", "a⟨0xFF⟩b\ufffd"},
		{"other scripts", "Žluťoučký 漢字 עברית", "Žluťoučký 漢字 עברית", "Žluťoučký 漢字 עברית"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := clean(tt.in); got != tt.clean {
				t.Errorf("clean: got %q, want %q", got, tt.clean)
			}
			if got := exact(tt.in); got != tt.exact {
				t.Errorf("exact: got %q, want %q", got, tt.exact)
			}
		})
	}
}

func TestJSONHidesNothingAndMeansTheSame(t *testing.T) {
	t.Parallel()
	in := "a\u202e\u009b\U000e0041<&>漢\x7f"
	data, err := encode(map[string]string{"x": in}, "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(string(data), hidden) {
		t.Errorf("%q holds a hidden character", data)
	}
	var back map[string]string
	if err := json.Unmarshal(data, &back); err != nil || back["x"] != in {
		t.Errorf("got %q back, %v", back["x"], err)
	}
}
