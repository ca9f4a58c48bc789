package expression_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// FuzzText checks that parsing and rendering return for every text. Every fault
// must have a message and a position in the text.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", "{{", "}}", "{{}}", "{{ a }}", "x {{ a ?? b || c && d }} {{", "{{ a.b[0]?.c[1:2] }}", "{{ filter(a, {# > 1 || .b}) | map(.x) }}", "{{ {a: [1, {b: nil}]}['a'] }}",
		"{{ a ? b : c..d ** -e }}", "{{ not (a in b) and c matches d }}", "{{ if a { b } else { c } }}", "{{ let a = 1; a }}", "{{ $env }}", "{{ 'a' + \"b\" + `c` }}", "{{ 0x1 + 1e9 + 1_0 }}",
		"{{ count(1..9, count(1..9, # > 2) > 1) }}", "{{ a.#b }}", "{{ .a }}", "{{ # }}", "{{ b'x' }}", "{{ a?.[b] }}", "{{ now() - date('2026-01-01') }}", "{{ default(default(a, b), c) }}", "{{ map(a, map(#, #)) }}",
		"{{ all([], true) || any(analysis.list, # == 1) }}", "{{ \"\\u{110000}\" }}", "{{ a[:] }}", "{{ -9223372036854775808 / 0 % 0 }}", "{{ /* a */ b // c }}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, faults := expression.Text(text)
		for _, fault := range faults {
			if fault.Message == "" || fault.Offset < 0 || fault.Offset > len(text) {
				t.Fatalf("%+v", fault)
			}
		}
		if faults != nil {
			return
		}
		for _, e := range v.Expressions() {
			for _, ref := range e.Refs() {
				if ref.Root == "" || ref.Root[0] == '$' {
					t.Fatalf("%+v", ref)
				}
			}
		}
		if _, err := v.Render(env); err != nil && err.Error() == "" {
			t.Fatal("an error without a message")
		}
	})
}
