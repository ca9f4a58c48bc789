package expression_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

var largeNumbers = expression.Env{
	"n": int64(4_000_000_000), "most": int64(9223372036854775807), "least": int64(-9223372036854775808), "zero": int64(0), "nothing": 0.0,
	"half": 0.5, "name": "fix", "huge": 1e300, "year": 290 * 365 * 24 * time.Hour,
}

func TestCalculationsAreExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"n * 2": int64(8_000_000_000), "most - 1": int64(9223372036854775806), "most + least": int64(-1), "-most": int64(-9223372036854775807),
		"least + 1 - 1": int64(-9223372036854775808), "least * 1": int64(-9223372036854775808), "(-most - 1) / 2": -4611686018427387904.0,
		"-3 * -4": int64(12), "0 * least": int64(0), "least - least": int64(0), "2 ** 63": 9223372036854775808.0, "3 * 10^24": 3e24,
		"n * float(n)": 1.6e19, "-half": -0.5, "+n": int64(4_000_000_000), "-7 % 4": int64(-3), "least % -1": int64(0),
		"duration('1h') * 3 == duration('3h')": true, "2 * duration('1h') - duration('30m')": "1h30m0s", "(most - 1)..most": []any{int64(9223372036854775806), int64(9223372036854775807)},
		"3..1": []any{}, "len(most..1)": int64(0), "2.0..3": []any{int64(2), int64(3)}, "count(1..3, # > 1)": int64(2), "2 in 1..3": true, "[1, 2, 3][1:most]": []any{int64(2), int64(3)},
		"name matches '^f' and not (null matches 'f')": true,
	} {
		e, faults := expression.Parse(text)
		if faults != nil {
			t.Errorf("%s: %+v", text, faults)
			continue
		}
		got, err := e.Eval(largeNumbers)
		if err != nil {
			t.Errorf("%s: %s", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestCalculationsDoNotOverflow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"n * n":                                 "n * n is too large for a whole number",
		"n * n > 0":                             "n * n is too large for a whole number",
		"1 + (most + 1) * 2":                    "most + 1 is too large for a whole number",
		"(n + n) * n":                           "(n + n) * n is too large for a whole number",
		"least - 1":                             "least - 1 is too large for a whole number",
		"0 - least":                             "0 - least is too large for a whole number",
		"-least":                                "-least is too large for a whole number",
		"least * -1":                            "least * -1 is too large for a whole number",
		"-1 * least":                            "-1 * least is too large for a whole number",
		"year * 2":                              "year * 2 is too long for a duration",
		"2 * year":                              "2 * year is too long for a duration",
		"year + year":                           "year + year is too long for a duration",
		"huge * huge > 1":                       "huge * huge is too large for a number",
		"10 ** 400":                             "10 ** 400 is too large for a number",
		"(-1) ** half":                          "(-1) ** half is no number",
		"n / zero":                              "zero is 0: nothing can be divided by zero",
		"n / nothing > 3":                       "nothing is 0: nothing can be divided by zero",
		"n % zero":                              "zero is 0: nothing can be divided by zero",
		"5 % 0":                                 "5 % 0: nothing can be divided by zero",
		"n / 0.0":                               "n / 0: nothing can be divided by zero",
		"half % 2":                              "half is the number 0.5, and % needs whole numbers",
		"5 % 2.5":                               "2.5 is a number, and % needs whole numbers",
		"-name":                                 `name is the text "fix", and a number is needed`,
		"-'a'":                                  `"a" is a text, and a number is needed`,
		"null + 1":                              "null has no place beside +",
		"upper(null)":                           "null is no value, and a text is needed",
		"name + 1":                              `name is the text "fix" and 1 is a number: they cannot be used with +`,
		"int('99999999999999999999')":           `"99999999999999999999" is too large for a whole number`,
		"float('1e999')":                        `"1e999" is too large for a number`,
		"int('x')":                              `"x" stands where a whole number is needed`,
		"int(name)":                             `name is the text "fix", and a whole number is needed`,
		"int(huge)":                             "huge is too large for a whole number",
		"date('03.02.2026')":                    `"03.02.2026" is no date`,
		"date(name)":                            `name is "fix", which is no date`,
		"least..most":                           "lists of more than 100000 elements",
		"1..huge":                               "huge is too large for a whole number",
		"1..name":                               `name is the text "fix", and a whole number is needed`,
		"[1, 2][0:huge]":                        "huge is too large for a whole number",
		"n matches '^4'":                        "n is the number 4000000000, and a text is needed",
		"name matches n":                        "n is the number 4000000000, and a text is needed",
		"len(map(1..60000, #)) + len(1..60000)": "lists of more than 100000 elements",
	} {
		e, faults := expression.Parse(text)
		if faults != nil {
			t.Errorf("%s: %+v", text, faults)
			continue
		}
		if got, err := e.Eval(largeNumbers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %v: %v", text, got, err)
		}
	}
}

// A message says nothing about the inside of the program.
func TestLiteralsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1.5 * 100000000000000000000000": "100000000000000000000000 is too large for a whole number",
		"-9223372036854775808":           "9223372036854775808 is too large for a whole number",
		"1e999":                          "1e999 is too large for a number",
		"0xFFFFFFFFFFFFFFFFFF":           "0xFFFFFFFFFFFFFFFFFF is too large for a whole number",
		"1 + 0x":                         "0x is no number",
	} {
		_, faults := expression.Parse(text)
		if len(faults) != 1 || faults[0].Message != want {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}
