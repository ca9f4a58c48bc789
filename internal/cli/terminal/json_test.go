package terminal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/notice"
)

func TestJSONHidesNothingAndMeansTheSame(t *testing.T) {
	t.Parallel()
	in := "a\u202e\u009b\U000e0041<&>漢\x7f"
	data, err := EncodeJSON(map[string]string{"x": in}, "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(string(data), notice.IsHidden) {
		t.Errorf("%q holds a hidden character", data)
	}
	var back map[string]string
	if err := json.Unmarshal(data, &back); err != nil || back["x"] != in {
		t.Errorf("got %q back, %v", back["x"], err)
	}
}
