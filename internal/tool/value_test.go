package tool_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/internal/tool"
)

func TestDecodeKeepsNumbers(t *testing.T) {
	t.Parallel()
	got, err := tool.Decode([]byte(`{"id": 9007199254740993, "rate": 0.5, "list": [1, "a", null, {"n": -2}]}`))
	want := map[string]any{"id": 9007199254740993, "rate": 0.5, "list": []any{1, "a", nil, map[string]any{"n": -2}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, literal := range []string{"1e400", "12345678901234567890"} {
		v, err := tool.Decode([]byte(`{"list": [` + literal + `]}`))
		if lost, ok := errors.AsType[*tool.LostNumberError](err); !ok || lost.Literal != literal {
			t.Errorf("%s was read as %v, %v", literal, v, err)
		}
	}
	for _, wrong := range []string{``, `{`, `{} {}`, `nonsense`} {
		if v, err := tool.Decode([]byte(wrong)); err == nil {
			t.Errorf("%q was read as %v", wrong, v)
		}
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	var in struct {
		Labels []string `json:"labels"`
	}
	if err := tool.DecodeInput(map[string]any{"labels": []any{"bug"}}, &in); err != nil || len(in.Labels) != 1 {
		t.Errorf("got %v %v", in, err)
	}
	for _, wrong := range []map[string]any{{"label": "bug"}, {"labels": 3}, {"labels": func() {}}} {
		err := tool.DecodeInput(wrong, &in)
		var f tool.Failure
		if !errors.As(err, &f) || !f.Permanent() {
			t.Errorf("%v gave %v, want a permanent failure", wrong, err)
		}
	}
}
