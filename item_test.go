package fermata_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

var (
	text     = fermata.Item{ResponseType: fermata.ResponseText}
	limited  = fermata.Item{ResponseType: fermata.ResponseText, MinLength: ptr(2), MaxLength: ptr(4), Pattern: "[a-zä]+"}
	choice   = fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{{Value: "a", Label: "A"}, {Value: "b"}, {Value: "c"}}}
	free     = fermata.Item{ResponseType: fermata.ResponseChoice, Options: choice.Options, Other: new(true), MaxLength: ptr(5)}
	choices  = fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: choice.Options}
	some     = fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: choice.Options, Required: ptr(false)}
	counted  = fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: choice.Options, Min: ptr(2.0), Max: ptr(2.0)}
	freely   = fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: choice.Options, Other: new(true)}
	boolean  = fermata.Item{ResponseType: fermata.ResponseBoolean}
	approval = fermata.Item{ResponseType: fermata.ResponseApproval}
	number   = fermata.Item{ResponseType: fermata.ResponseNumber}
	bounded  = fermata.Item{ResponseType: fermata.ResponseNumber, Min: ptr(0.0), Max: ptr(2e6)}
	date     = fermata.Item{ResponseType: fermata.ResponseDate}
)

func TestItemNormalize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		item    fermata.Item
		value   any
		want    any
		problem string // a part of it; empty: none
	}{
		{"text", text, " as it is\n", " as it is\n", ""},
		{"text of any script", text, "日本語 🎼", "日本語 🎼", ""},
		{"the longest text", text, strings.Repeat("ä", fermata.MaxAnswerText), strings.Repeat("ä", fermata.MaxAnswerText), ""},
		{"a longer text", text, strings.Repeat("ä", fermata.MaxAnswerText+1), nil, "has 20001 characters, may have at most 20000"},
		{"empty text", text, "", nil, "must not be empty"},
		{"blank text", text, " \t\n", nil, "must not be empty"},
		{"invalid UTF-8", text, "a\xff", nil, "not valid UTF-8"},
		{"NUL", text, "a\x00", nil, "not valid UTF-8"},
		{"text of a number", text, 3.0, nil, "must be a text"},
		{"text of a list", text, []any{"a"}, nil, "must be a text"},
		{"text of an object", text, map[string]any{"a": "b"}, nil, "must be a text"},
		{"text of nothing", text, nil, nil, "must be a text"},
		{"within the limits", limited, "aäz", "aäz", ""},
		{"too short", limited, "a", nil, "has 1 characters, needs at least 2"},
		{"too long", limited, "aaaaa", nil, "has 5 characters, may have at most 4"},
		{"the whole text must match", limited, "ab1", nil, "does not match the pattern [a-zä]+"},
		{"a line is not the whole", limited, "ab\nc", nil, "does not match"},
		{"a last newline counts", limited, "ab\n", nil, "does not match"},
		{"alternatives stay together", fermata.Item{ResponseType: "text", Pattern: "a|b"}, "ax", nil, "does not match"},
		{"lines do not loosen the ends", fermata.Item{ResponseType: "text", Pattern: "(?m)^a$"}, "a\nb", nil, "does not match"},

		{"choice", choice, "b", "b", ""},
		{"choice by label", choice, "A", nil, `"A" is not an option; options are "a", "b", "c"`},
		{"unknown option", choice, "d", nil, `"d" is not an option`},
		{"empty option", choice, "", nil, "is not an option"},
		{"choice of a number", choice, 1.0, nil, "as a text"},
		{"choice of a list", choice, []any{"a"}, nil, "as a text"},
		{"other", free, "mine", "mine", ""},
		{"an option beside other", free, "a", "a", ""},
		{"other, too long", free, "mine and yours", nil, "may have at most 5"},
		{"other, blank", free, " ", nil, "must not be empty"},
		{"other, invalid", free, "\xff", nil, "not valid UTF-8"},

		{"choices", choices, []any{"c", "a"}, []string{"a", "c"}, ""},
		{"choices from Go", choices, []string{"b"}, []string{"b"}, ""},
		{"choices that repeat", choices, []any{"b", "b"}, []string{"b"}, ""},
		{"no choice", choices, []any{}, nil, "at least one option"},
		{"no choice where none is needed", some, []any{}, []string{}, ""},
		{"one text is no list", choices, "a", nil, "must be a list of options"},
		{"a list of numbers", choices, []any{1.0}, nil, "must be a list of options"},
		{"unknown choice", choices, []any{"a", "d"}, nil, `"d" is not an option`},
		{"two choices", counted, []any{"b", "a"}, []string{"a", "b"}, ""},
		{"the same twice is one", counted, []any{"a", "a"}, nil, "has 1 choices, needs at least 2"},
		{"three choices", counted, []any{"a", "b", "c"}, nil, "has 3 choices, may have at most 2"},
		{"other among choices", freely, []any{"mine", "b", "yours", "a"}, []string{"a", "b", "mine", "yours"}, ""},

		{"true", boolean, true, true, ""},
		{"false", boolean, false, false, ""},
		{"yes", boolean, "yes", nil, "must be true or false"},
		{"one", boolean, 1.0, nil, "must be true or false"},

		{"approve", approval, "approve", "approve", ""},
		{"reject", approval, "reject", "reject", ""},
		{"Approve", approval, "Approve", nil, `must be "approve" or "reject"`},
		{"true for approve", approval, true, nil, `must be "approve" or "reject"`},
		{"a list for approve", approval, []any{"approve"}, nil, `must be "approve" or "reject"`},
		{"an object for approve", approval, map[string]any{}, nil, `must be "approve" or "reject"`},

		{"number", number, 1.5, 1.5, ""},
		{"whole number", number, 3, 3.0, ""},
		{"JSON number", number, json.Number("2.5"), 2.5, ""},
		{"number beyond all", number, json.Number("1e999"), nil, "is too large"},
		{"number in words", number, "3", nil, "must be a number"},
		{"not a number", number, math.NaN(), nil, "finite"},
		{"infinite", number, math.Inf(-1), nil, "finite"},
		{"least", bounded, 0.0, 0.0, ""},
		{"most", bounded, 2e6, 2e6, ""},
		{"below", bounded, -0.1, nil, "is below 0"},
		{"above", bounded, 2000001.0, nil, "is above 2000000"},

		{"date", date, "2028-02-29", "2028-02-29", ""},
		{"no such day", date, "2027-02-29", nil, "must be a date"},
		{"date and time", date, "2027-01-31T10:00:00Z", nil, "must be a date"},
		{"date of a number", date, 20270131.0, nil, "must be a date"},

		{"unknown type", fermata.Item{ResponseType: "song"}, "la", nil, "unknown response type"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.item.Normalize(tc.value)
			if tc.problem != "" {
				wantError(t, err, fermata.CodeInvalidRequest)
				if !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("problem %q, want %q", err, tc.problem)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// anyValue draws values that a JSON body may hold, valid or not.
func anyValue() *rapid.Generator[any] {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "", "approve", "reject", "2027-01-31", "ab", "\x00", "\xff"})
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return word.Draw(t, "word") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "text") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64().Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }),
		rapid.Custom(func(t *rapid.T) any {
			var list []any
			for _, w := range rapid.SliceOfN(word, 0, 4).Draw(t, "list") {
				list = append(list, w)
			}
			return list
		}),
		rapid.Just[any](map[string]any{"a": 1.0}),
	)
}

// TestItemNormalizeTwiceIsOnce checks that an accepted value is accepted again
// unchanged, even when it comes back from the database.
func TestItemNormalizeTwiceIsOnce(t *testing.T) {
	t.Parallel()
	items := []fermata.Item{text, limited, choice, free, choices, some, counted, freely, boolean, approval, number, bounded, date}
	rapid.Check(t, func(t *rapid.T) {
		it := rapid.SampledFrom(items).Draw(t, "item")
		once, err := it.Normalize(anyValue().Draw(t, "value"))
		if err != nil {
			return
		}
		twice, err := it.Normalize(throughJSON(t, once))
		if err != nil || !cmp.Equal(once, twice) {
			t.Fatalf("%#v became %#v, %v", once, twice, err)
		}
	})
}

func TestOptionIsReadFromText(t *testing.T) {
	t.Parallel()
	got := decode[[]fermata.Option](t, `[ "a", {"value":"b","label":"B"}, "é\n" ]`)
	want := []fermata.Option{{Value: "a"}, {Value: "b", Label: "B"}, {Value: "é\n"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`[3]`, `[{"value":3}]`, `[["a"]]`} {
		var o []fermata.Option
		if err := json.Unmarshal([]byte(bad), &o); err == nil {
			t.Errorf("%s was read as %+v", bad, o)
		}
	}
	if got[0].Text() != "a" || got[1].Text() != "B" {
		t.Errorf("people read %q and %q", got[0].Text(), got[1].Text())
	}
}

// A number that a float64 would change is no answer.
func TestAnswersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	it := fermata.Item{ResponseType: fermata.ResponseNumber}
	for _, kept := range []any{42, int64(1 << 53), json.Number("9007199254740992"), json.Number("0.1"), 0.5} {
		if v, err := it.Normalize(kept); err != nil {
			t.Errorf("%v gave %v, %v", kept, v, err)
		}
	}
	for _, changed := range []any{1<<53 + 1, int64(1<<53 + 1), json.Number("9007199254740993"), json.Number("1e400")} {
		if v, err := it.Normalize(changed); err == nil || !strings.Contains(err.Error(), "15 digits") {
			t.Errorf("%v gave %v, %v", changed, v, err)
		}
	}
}
