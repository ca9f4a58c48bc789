package acp

import (
	"encoding/json"
	"testing"
)

// People approve these bytes. So arguments stay as they came, and two calls that differ in anything are two actions.
func TestInput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, call, want string }{
		{"arguments keep their order and digits", `{"title":"t","rawInput":{"z":12345678901234567890,"a":1.0}}`,
			`{"z":12345678901234567890,"a":1.0,"acp":{"title":"t"}}`},
		{"the title stands for arguments that are missing", `{"title":"rm -rf x"}`, `{"title":"rm -rf x","acp":{"title":"rm -rf x"}}`},
		{"as for empty ones", `{"title":"rm -rf x","rawInput":{ }}`, `{"title":"rm -rf x","acp":{"title":"rm -rf x"}}`},
		{"a diff is part of the call", `{"title":"t","rawInput":{"path":"x"},"content":[{"type":"diff","path":"x","newText":"b"}]}`,
			`{"path":"x","acp":{"title":"t","content":[{"type":"diff","path":"x","newText":"b"}]}}`},
		{"arguments that are no object", `{"title":"t","rawInput":["ls"]}`, `{"acp":{"title":"t","raw_input":["ls"]}}`},
		{"a place of ours is not taken", `{"title":"t","rawInput":{"acp":{"title":"other"}}}`,
			`{"acp":{"title":"t","raw_input":{"acp":{"title":"other"}}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &permission{}
			if err := json.Unmarshal([]byte(tt.call), &p.ToolCall); err != nil {
				t.Fatal(err)
			}
			got, err := p.gateInput()
			if err != nil || string(got) != tt.want || !json.Valid(got) {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}
