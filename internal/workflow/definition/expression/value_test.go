package expression_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

func hint(err error) string {
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		return e.Hint
	}
	return ""
}

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want any
	}{
		{"plain", "plain"},
		{"", ""},
		{"{{ analysis.list }}", []any{int64(1), 2.5, "x"}},
		{" {{ analysis.count }}\n", int64(3)},
		{"{{ answer }}", nil},
		{"n={{ analysis.count }} {{analysis.ok}}", "n=3 false"},
		{"{{ 1.0 }}{{ 2.50 }}", "12.5"},
		{`a {{ "{{ x }}" }} b`, "a {{ x }} b"},
		{`{{ {"a": {"b": "}}"}} }}`, map[string]any{"a": map[string]any{"b": "}}"}}},
		{"title: {{ title }}", "title: Fix {{ secrets.KEY }}"}, // templates in results are not filled in
		{"{{ title }}", "Fix {{ secrets.KEY }}"},
		{"{{ answer ?? 'nobody' }}!", "nobody!"},
		{"{{ analysis.list }}!", `[1,2.5,"x"]!`},
		{"a }} b { c", "a }} b { c"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			v, faults := expression.Text(tt.text)
			if faults != nil {
				t.Fatalf("%+v", faults)
			}
			got, err := v.Render(env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	null, _ := expression.Text("dear {{ answer }}")
	v := expression.ObjectOf([]expression.Field{{Key: "question", Value: expression.ListOf([]expression.Value{expression.Literal(1), null})}})
	_, err := v.Render(env)
	if err == nil || err.Error() != "question[1]: answer is null, and null has no place in a text" || !strings.Contains(hint(err), `{{ answer ?? "none" }}`) {
		t.Errorf("%v (%s)", err, hint(err))
	}
	for text, offset := range map[string]int{"ab {{ x": 3, "ä {{ a }} {{ b": 10, "{{ }}": 3, "ä {{ a < }}": 7, "{{ a }} {{ zzz(b) }}": 11} {
		_, faults := expression.Text(text)
		if len(faults) != 1 || faults[0].Offset != offset {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}

func TestResultsShareNothing(t *testing.T) {
	t.Parallel()
	list := []any{map[string]any{"a": int64(1)}}
	v, _ := expression.Text("{{ list }}")
	got, err := v.Render(expression.Env{"list": list})
	if err != nil {
		t.Fatal(err)
	}
	got.([]any)[0].(map[string]any)["a"] = "changed"
	if list[0].(map[string]any)["a"] != int64(1) {
		t.Error("rendering hands out what the environment holds")
	}
}
