package notice

import (
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
		{"joiner between letters", "rm\u200d -r", "rm⟨U+200D⟩ -r", "rm⟨U+200D⟩ -r"},
		{"selector", "a\ufe00 ❤\ufe0f", "a⟨U+FE00⟩ ❤\ufe0f", "a⟨U+FE00⟩ ❤⟨U+FE0F⟩"},
		{"look-alike among Latin", "p\u0430ypal", "p\u0430⟨U+0430⟩ypal", "p\u0430⟨U+0430⟩ypal"},
		{"look-alikes alone", "\u0441\u043e\u0440\u0443", "\u0441\u043e\u0440\u0443", "\u0441⟨U+0441⟩\u043e⟨U+043E⟩\u0440⟨U+0440⟩\u0443⟨U+0443⟩"},
		{"a word of its own script", "привет", "привет", "привет"},
		{"fullwidth", "ｒm", "ｒ⟨U+FF52⟩m", "ｒ⟨U+FF52⟩m"},
		{"sign", "rm −r", "rm −r", "rm −⟨U+2212⟩r"},
		{"flood", "a\u0301\u0301\u0301\u0301b", "a\u0301\u0301\u0301⟨U+0301⟩b", "a\u0301\u0301\u0301⟨U+0301⟩b"},
		{"a written number", "⟨U+0041⟩", "⟨U+27E8⟩U+0041⟩", "⟨U+27E8⟩U+0041⟩"},
		{"private use", "a\ue000", "a⟨U+E000⟩", "a⟨U+E000⟩"},
		{"gap", "a" + strings.Repeat(" ", 40) + "b", "a" + strings.Repeat(" ", 40) + "b", "a⟨40 spaces⟩b"},
		{"indent", "\n" + strings.Repeat(" ", 40) + "b", "\n" + strings.Repeat(" ", 40) + "b", "\n" + strings.Repeat(" ", 40) + "b"},
		{"bad UTF-8", "a\xffb\ufffd", "a⟨0xFF⟩b\ufffd", "a⟨0xFF⟩b\ufffd"},
		{"other scripts", "Žluťoučký 漢字 עברית", "Žluťoučký 漢字 עברית", "Žluťoučký 漢字 עברית"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Clean(tt.in); got != tt.clean {
				t.Errorf("clean: got %q, want %q", got, tt.clean)
			}
			if got := CleanStrictly(tt.in); got != tt.exact {
				t.Errorf("exact: got %q, want %q", got, tt.exact)
			}
		})
	}
}
