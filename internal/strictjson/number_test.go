package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/internal/strictjson"
)

func TestNumbersStayAsTheyAre(t *testing.T) {
	t.Parallel()
	var body struct {
		Inputs map[string]any `json:"inputs"`
	}
	err := strictjson.Unmarshal([]byte(`{"inputs": {"id": 1234567890123456789, "deep": {"ids": [9007199254740993, 2, 0.5]}, "s": "1", "none": null}}`), &body)
	want := map[string]any{"id": int64(1234567890123456789), "deep": map[string]any{"ids": []any{int64(9007199254740993), 2.0, 0.5}}, "s": "1", "none": nil}
	if diff := cmp.Diff(want, body.Inputs); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, literal := range []string{"1e400", "12345678901234567890"} {
		err := strictjson.Unmarshal([]byte(`{"inputs": {"deep": {"ids": [1, `+literal+`]}}}`), &body)
		if err == nil || !strings.Contains(err.Error(), "inputs.deep.ids[1]: is a number that is too large or has too many digits") {
			t.Errorf("%s: %v", literal, err)
		}
	}
}

// A field that keeps its exact bytes may have any number.
func TestExactBytesMayHaveAnyNumber(t *testing.T) {
	t.Parallel()
	const document = `{"action": {"big": 12345678901234567890, "huge": -1e400}}`
	if _, err := strictjson.Outline([]byte(document)); err != nil {
		t.Error(err)
	}
	var ask struct {
		Action json.RawMessage `json:"action"`
	}
	if err := strictjson.Unmarshal([]byte(document), &ask); err != nil || string(ask.Action) != `{"big": 12345678901234567890, "huge": -1e400}` {
		t.Errorf("%s %v", ask.Action, err)
	}
	if _, err := strictjson.Outline([]byte(`{"action": 1, "action": 2}`)); err == nil {
		t.Error("a field may stand twice")
	}
}
