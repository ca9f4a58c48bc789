package fermata

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// HoldsNumber reports whether a JSON number stays the same where it is kept: as an int64 if it is a whole number that
// fits, else as a float64. Digits that a float64 rounds away behind the point do not matter below 2^53.
func HoldsNumber(literal string) bool {
	if _, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return true
	}
	return FloatHoldsNumber(literal)
}

// FloatHoldsNumber is [HoldsNumber] for a number that is kept as a float64, such as an answer.
func FloatHoldsNumber(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	digits, exponent := decimalDigits(literal)
	if err != nil || f == 0 && digits != "" {
		return false
	}
	if math.Abs(f) < 1<<53 {
		return true
	}
	keptDigits, keptExponent := decimalDigits(strconv.FormatFloat(f, 'e', -1, 64))
	return digits == keptDigits && exponent == keptExponent
}

// decimalDigits returns the digits of a number without zeros at its ends, and the power of ten of the last one.
func decimalDigits(literal string) (digits string, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimLeft(literal, "+-")), "e")
	exponent, _ = strconv.Atoi(power) // the range of a float64 was checked
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits = strings.TrimRight(all, "0")
	exponent += len(all) - len(digits) - len(fraction)
	return strings.TrimLeft(digits, "0"), exponent
}

// FindLostNumber returns the first number in a JSON document that [HoldsNumber] is false for, and "" if there is none.
func FindLostNumber(doc []byte) string {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return "" // the end, or a document that its reader refuses
		}
		if n, ok := token.(json.Number); ok && !HoldsNumber(n.String()) {
			return n.String()
		}
	}
}

// LostNumberError returns the error for a number that [HoldsNumber] is false for. subject is where it stands.
func LostNumberError(subject, literal string) *Error {
	if runes := []rune(literal); len(runes) > 40 {
		literal = string(runes[:39]) + "…"
	}
	return Errorf(CodeInvalidRequest, "%s has the number %s, which is too large or has too many digits to be kept as it is", subject, literal).
		WithHint("write it as a text, in quotes")
}
