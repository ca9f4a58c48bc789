package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// FuzzLoad checks that Load returns for any input, and that every problem has a position in the file.
func FuzzLoad(f *testing.F) {
	f.Add(autofix(f))
	for _, seed := range []string{
		"", "\n", "\t", "a", "- ", ":", "? ", "{", "[", "\"", "'", "|", "> \n", "&a", "*a", "!a", "!!", "%", "---", "...", "<<: *a", "\xff\xfe", "\ufeffname: x", "name: x\r\nsteps:\r\n",
		"a: {{ x }}", "a: {{", "a: }}", "a:\n - b\n  - c", "a: \"\\x\"", "a: \"\\ud800\"", "a: |\n\n\n", "a: >2-\n   x", "? - a\n: - b", "a: &a [*a]", "a: !!binary x", "&a a: b", "[a, b]: c", "{a: b}: c",
		start + step + "    condition: !done\n", start + step + "    input: {x: {{ done }}}\n    condition: a # b\n",
		start + ask + "    on_resume: {goto: {a: b}, inject: {a: \"{{ b\"}}\n", "name: 1\nsteps: 2\ntriggers: 3\ninputs: 4\non_resume: 5\non_timeout: []\nconcurrency: x\nconfidence: y\n",
		"steps: [1, null, [], {id: 1}, {id: a, tool: [], input: x, on_resume: 1, retry: 2, foreach: 3, on_reject: {goto: 4}}]", "steps:\n  -\n  - id\n", "name: x\nsteps:\n" + strings.Repeat(" - ", 40),
		"x: " + strings.Repeat("{a: ", 40), "x: '" + strings.Repeat("''", 100), "inputs: {a: {type: string, default: [], enum: [null, {}]}}", "triggers: [{schedule: \"*/0 * * * *\", inputs: {a: 1}}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		lines := strings.Count(strings.ReplaceAll(string(source), "\r\n", "\n"), "\n") + 1
		for _, k := range []definition.Catalog{known, {AllowUnknownTools: true}} {
			w, problems := definition.Load(source, k)
			last := 0
			failed := false
			for _, p := range problems {
				if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" || p.Line < last {
					t.Fatalf("%+v", p)
				}
				last, failed = p.Line, failed || !p.Warning
			}
			if failed == (w != nil) {
				t.Fatalf("workflow %v, problems %v", w, problems)
			}
			if w != nil {
				w.Graph()
			}
		}
	})
}

// largeWorkflow returns a workflow of 200 steps, each with a condition, templates and a schema to check.
func largeWorkflow() []byte {
	var b strings.Builder
	b.WriteString("name: large\nsteps:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  - id: s%d\n    tool: http\n    output: o%d\n    condition: inputs.n > %d && run.attempt < 3\n    retry: {attempts: 3, backoff: 1s}\n", i, i, i)
		fmt.Fprintf(&b, "    input:\n      url: \"https://example.com/{{ inputs.n }}/{{ trigger.issue ?? 'none' }}\"\n      headers: {a: \"{{ secrets.A }}\", b: \"{{ len(inputs.n) }}\"}\n")
	}
	b.WriteString("inputs: {n: {type: number}}\n")
	return []byte(b.String())
}

// wideWorkflow returns a workflow with as many steps as a file may have. Each step except the first hundred needs 22
// others.
func wideWorkflow() []byte {
	var b strings.Builder
	b.WriteString("name: wide\nsteps:\n")
	for i := range definition.MaxSteps {
		var needs []string
		for n := i - 100; n >= 0 && n < i && len(needs) < 22; n++ {
			needs = append(needs, fmt.Sprintf("s%d", n))
		}
		fmt.Fprintf(&b, "  - {id: s%d, tool: run_checks, needs: [%s]}\n", i, strings.Join(needs, ", "))
	}
	return []byte(b.String())
}

// A file that was crafted to be slow to parse is refused early.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	fill := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < definition.MaxSource/2; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const before = "name: x\nsteps:\n - {id: a, tool: run_checks, input: {x: '"
	for source, want := range map[string]string{
		fill("k%d: 1\n"): "more than 10000 fields",
		before + fill("{{ a%d || b }}") + "'}}\n":                                                   "more than 100 templates in one text",
		before + strings.Repeat("{{", 100_000) + "'}}\n":                                            "{{ is not closed",
		"name: x\nsteps:\n" + strings.Repeat("  - {id: a, tool: run_checks, condition: z}\n", 3000): "may have at most 1000",
		fill("- {{ x%d }}\n"):                   "must be quoted",
		strings.Repeat("[", 50_000):             "more than 32 deep",
		strings.Repeat("!a ", 20_000):           "more than 32 deep",
		"a: \"" + strings.Repeat("x\n", 30_000): "quote is not closed",
	} {
		_, problems := definition.Load([]byte(source), known)
		said := false
		for _, p := range problems {
			said = said || strings.Contains(p.Message, want)
		}
		if !said {
			t.Errorf("%.40q: %v", source, problems)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for name, source := range map[string][]byte{"example": autofix(b), "steps=200": largeWorkflow(), "needs=20000": wideWorkflow()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if w, problems := definition.Load(source, known); w == nil {
					b.Fatal(problems)
				}
			}
		})
	}
}
