package expression_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

var env = expression.Env{
	"analysis": map[string]any{
		"confidence": 72.0, "count": int64(3), "name": "fix", "ok": false, "none": nil, "empty": "", "zero": int64(0),
		"list": []any{int64(1), 2.5, "x"}, "deep": map[string]any{"x": map[string]any{"y": "z"}},
		"users": []any{map[string]any{"name": "ann", "age": int64(40)}, map[string]any{"name": "bob", "age": 20.0}},
	},
	"answer": nil, "title": "Fix {{ secrets.KEY }}", "steps": map[string]any{"a": map[string]any{"status": "done", "output": nil}},
	"secrets":         func(name string) (string, error) { return "s-" + name, nil },
	expression.NowKey: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC),
}

func TestEval(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want any
	}{
		{"analysis.confidence < 80", true},
		{"analysis.count == 3.0", true},
		{"analysis.count + 1", int64(4)},
		{"-analysis.count", int64(-3)},
		{"analysis.count / 2", 1.5},
		{"7 % 4 + 2 ** 3", 11.0},
		{"answer || analysis.name", "fix"},
		{"answer ?? analysis.name", "fix"},
		{"analysis.zero || 5", int64(0)},
		{"analysis.empty || 5", int64(5)},
		{"analysis.empty ?? 5", ""},
		{"analysis.ok || 'no'", "no"},
		{"analysis.ok ?? 'no'", false},
		{"[] || {} || 'last'", "last"},
		{"analysis.name && analysis.count", int64(3)},
		{"analysis.none && analysis.none.x > 3", nil},
		{"analysis.name || missing.deep.x", "fix"},
		{"analysis.missing.deep.x || analysis.gone || 'd'", "d"},
		{"analysis.missing ?? 'd'", "d"},
		{"analysis.deep?.no?.y", nil},
		{"default(analysis.missing, 'd')", "d"},
		{"analysis.missing == null", true},
		{"null != analysis.name", true},
		{"analysis.deep.x.y", "z"},
		{`analysis["deep"]["x"].y`, "z"},
		{"analysis.list[0]", int64(1)},
		{"analysis.list[-1]", "x"},
		{"analysis.list[9] ?? 'none'", "none"},
		{"analysis.list[0:2]", []any{int64(1), 2.5}},
		{"analysis.count in [1, 2, 3.0]", true},
		{"'ok' in analysis", true},
		{"analysis.name contains 'i'", true},
		{"analysis.list contains 2.5", true},
		{"analysis.name startsWith 'f' and not (analysis.name endsWith 'f')", true},
		{`analysis.name matches "^f.x$"`, true},
		{"analysis.ok ? 'a' : 'b'", "b"},
		{"!analysis.ok", true},
		{"not analysis.ok", true},
		{"len(analysis.list) + len('äö') + len(analysis.deep)", int64(6)},
		{"upper(trim(' a ')) + lower('B')", "Ab"},
		{"split('a,b', ',') | join('-')", "a-b"},
		{"replace('aXa', 'X', 'Y')", "aYa"},
		{"int('12') + int(2.9)", int64(14)},
		{"float('1.5')", 1.5},
		{"string(1.50) + string(true) + string([1])", "1.5true[1]"},
		{"toJSON({a: [1, null]})", `{"a":[1,null]}`},
		{`fromJSON('{"a": 12345678901, "b": 1.5}')`, map[string]any{"a": int64(12345678901), "b": 1.5}},
		{"now()", "2026-11-22T09:30:00Z"},
		{"now() - date('2026-11-21') > duration('1d')", true},
		{"now() + duration('90m')", "2026-11-22T11:00:00Z"},
		{"any(analysis.users, .age > 30)", true},
		{"all(analysis.users, #.age > 30)", false},
		{"filter(analysis.users, {.age > 30})", []any{map[string]any{"name": "ann", "age": int64(40)}}},
		{"map(analysis.users, .name)", []any{"ann", "bob"}},
		{"count(analysis.users, .name == 'bob')", int64(1)},
		{"count([true, false, true])", int64(2)},
		{"map(filter(analysis.users, .email || .age > 30), .name)", []any{"ann"}},
		{"first(analysis.list)", int64(1)},
		{"last([])", nil},
		{"keys({b: 1, a: 2})", []any{"a", "b"}},
		{"values({b: 1, a: 2})", []any{int64(2), int64(1)}},
		{"secrets.KEY", "s-KEY"},
		{"analysis.name | upper()", "FIX"},
		{"1..3", []any{int64(1), int64(2), int64(3)}},
		{"unknown_root", nil},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			e, faults := expression.Parse(tt.text)
			if faults != nil {
				t.Fatalf("faults: %+v", faults)
			}
			got, err := e.Eval(env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvalRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"analysis.missing", `there is no "missing"`},
		{"analysis.confidnce", "did you mean confidence?"},
		{"answer.value", "answer.value: answer is null"},
		{"analysis.none < 80", "analysis.none is null, and < needs a value"},
		{"'72' < 80", `"72" is a text and 80 is a number: they cannot be used with <`},
		{"analysis.name < 80", `analysis.name is the text "fix" and 80 is a number`},
		{"analysis.name.x", "has no \"x\""},
		{"analysis.missing < 80 || true", "no \"missing\""},
		{"analysis.list[9]", "the list has 3 elements"},
		{"!analysis.name", "true or false is needed"},
		{"analysis.name ? 1 : 2", "true or false is needed"},
		{"filter(analysis.users, .age)", "true or false is needed"},
		{"filter(analysis.name, true)", "a list is needed"},
		{"1 / 0", "1 / 0: nothing can be divided by zero"},
		{"int('x')", "a whole number is needed"},
		{"date('soon')", "no date"},
		{"duration('30')", "no duration"},
		{"fromJSON('{')", "no JSON"},
		{"len(1..2000000)", "lists of more than 100000 elements"},
		{"count(1..1000, count(1..1000, true) > 0)", "more than 100000 elements"},
		{"len(map(1..1000, replace('" + strings.Repeat("x", 900) + "', 'x', 'yyyyyyyyyyyyyyyy')))", "MiB of text"},
		{"secrets", "used by its name"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			e, faults := expression.Parse(tt.text)
			if faults != nil {
				t.Fatalf("faults: %+v", faults)
			}
			v, err := e.Eval(env)
			if err == nil {
				t.Fatalf("it is %v", v)
			}
			if !strings.Contains(err.Error()+hint(err), tt.want) {
				t.Errorf("%v (%s), want %s", err, hint(err), tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, message, hint string }{
		{"", "empty", "write one"},
		{"a <", "unexpected token EOF", "too early"},
		{"a = 1", "", "=="},
		{"contains(a, 'x')", "", "stand between"},
		{"env('HOME')", "no function env", ""},
		{"uper(a)", "no function uper", "did you mean upper?"},
		{"sum(a)", "no function sum", ""},
		{"reduce(a, # + #acc)", "no function reduce", ""},
		{"upper()", "0 arguments", "upper(text)"},
		{"a.upper()", "no functions of their own", ""},
		{"let x = 1; x", "no variables", ""},
		{"a; b", "no variables", ""},
		{"$env.secrets", "is no name", ""},
		{"$get(a, 'b')", "no function", ""},
		{"b'x'", "", ""},
		{strings.Repeat("a+", 1900) + "a", "too many parts", ""},
		{strings.Repeat("a", 5000), "too long", ""},
		{"{{ a }}", "", "once"},
	}
	for _, tt := range tests {
		t.Run(tt.text[:min(len(tt.text), 20)], func(t *testing.T) {
			t.Parallel()
			_, faults := expression.Parse(tt.text)
			if len(faults) == 0 {
				t.Fatal("it was taken")
			}
			if !strings.Contains(faults[0].Message, tt.message) || !strings.Contains(faults[0].Hint, tt.hint) {
				t.Errorf("%+v", faults)
			}
		})
	}
}

func TestBool(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"analysis.ok": "", "analysis.count": "must be true or false", "analysis.ok || 'x'": "must be true or false",
		"answer": "must be true or false",
	} {
		e, faults := expression.Parse(text)
		if faults != nil {
			t.Fatal(faults)
		}
		_, err := e.Bool(env)
		if want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestKindsRefsChoices(t *testing.T) {
	t.Parallel()
	e, faults := expression.Parse(`(a.b || c["d"].e) || upper(f[g.h].i) + 'x'`)
	if faults != nil {
		t.Fatal(faults)
	}
	refs := []expression.Ref{
		{Root: "a", Path: []string{"b"}, Offset: 1}, {Root: "c", Path: []string{"d", "e"}, Offset: 8},
		{Root: "f", Offset: 27}, {Root: "g", Path: []string{"h"}, Offset: 29},
	}
	if diff := cmp.Diff(refs, e.Refs()); diff != "" {
		t.Error(diff)
	}
	choices := []expression.Choice{{Left: refs[0]}, {Left: refs[1]}}
	if diff := cmp.Diff(choices, e.Choices()); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]expression.Kind{
		"!a": expression.Boolean, "a < 1 || b in c": expression.Boolean, "a || b": expression.Unknown, "'x'": expression.String,
		"1 * a": expression.Number, "[a]": expression.List, "{a: 1}": expression.Object, "null": expression.Null, "len(a)": expression.Number,
	} {
		e, faults := expression.Parse(text)
		if faults != nil || e.Kind() != want {
			t.Errorf("%s: %v %v", text, e.Kind(), faults)
		}
	}
}
