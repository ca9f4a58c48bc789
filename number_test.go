package fermata_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestNumbersThatAreKept(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string][2]bool{ // as any number, as a float64
		"0": {true, true}, "-0": {true, true}, "0.1": {true, true}, "0e999": {true, true}, "-12.50": {true, true},
		"0.12345678901234567890": {true, true},
		"9007199254740992":       {true, true},
		"9007199254740993":       {true, false},
		"-1234567890123456789":   {true, false},
		"9223372036854775807":    {true, false},
		"1e20":                   {true, true},
		"100000000000000000000":  {true, true},
		"12345678901234567000":   {true, true},
		"12345678901234567890":   {false, false},
		"9007199254740993.0":     {false, false},
		"1.7976931348623157e308": {true, true},
		"1e400":                  {false, false},
		"-1e400":                 {false, false},
		"1e-400":                 {false, false},
		"1e99999999999999999999": {false, false},
	} {
		if got := [2]bool{fermata.HoldsNumber(literal), fermata.FloatHoldsNumber(literal)}; got != want {
			t.Errorf("%s: %v", literal, got)
		}
	}
	if got := fermata.FindLostNumber([]byte(`{"a": [1, {"b": 1e400}], "c": "1e400"}`)); got != "1e400" {
		t.Error(got)
	}
	if got := fermata.FindLostNumber([]byte(`{"a": [1, 9007199254740993], "c": "1e400"}`)); got != "" {
		t.Error(got)
	}
}
