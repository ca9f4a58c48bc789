package expression

import (
	"math"
	"math/bits"
	"time"

	"github.com/expr-lang/expr/vm/runtime"
)

// calculate applies an operator of arithmetic. A result that its kind of numbers cannot hold is an error.
func calculate(op, whole string, a, b operand) (any, error) {
	if op == "/" || op == "%" {
		if err := checkDivisor(op, whole, a, b); err != nil {
			return nil, err
		}
	}
	if result, fits, isWhole := calculateWhole(op, a.value, b.value); isWhole {
		if !fits {
			return nil, tooLargeError(whole, result)
		}
		return result, nil
	}
	var result any
	switch op {
	case "+":
		result = runtime.Add(a.value, b.value)
	case "-":
		result = runtime.Subtract(a.value, b.value)
	case "*":
		result = runtime.Multiply(a.value, b.value)
	case "/":
		result = runtime.Divide(a.value, b.value)
	case "%":
		result = int64(runtime.Modulo(a.value, b.value))
	default: // ** and ^
		result = runtime.Exponent(a.value, b.value)
	}
	if f, ok := result.(float64); ok {
		return result, checkNumber(whole, f)
	}
	return result, nil
}

// checkNumber returns an error for what is no finite number.
func checkNumber(whole string, f float64) error {
	switch {
	case math.IsInf(f, 0):
		return errorf("%s is too large for a number", whole)
	case math.IsNaN(f):
		return errorf("%s is no number", whole)
	}
	return nil
}

// checkDivisor returns an error if nothing can be divided by b.
func checkDivisor(op, whole string, a, b operand) error {
	isZero := b.value == int64(0) || b.value == 0.0
	switch {
	case isZero && literalKind(b.text, b.value) != "":
		return errorf("%s: nothing can be divided by zero", whole)
	case isZero:
		return errorf("%s is 0: nothing can be divided by zero", b.text)
	case op == "/":
		return nil
	}
	for _, o := range []operand{a, b} {
		if _, isFraction := o.value.(float64); isFraction {
			return errorf("%s, and %% needs whole numbers", o).WithHint("write int(%s)", o.text)
		}
	}
	return nil
}

func tooLargeError(whole string, result any) error {
	if _, ok := result.(time.Duration); ok {
		return errorf("%s is too long for a duration", whole)
	}
	return errorf("%s is too large for a whole number", whole).
		WithHint("calculate with float(…): about 15 digits of its result are exact")
}

// calculateWhole applies + - and * to two whole numbers or two durations, or * to one of each. It reports isWhole for
// these, and fits if the result did not overflow.
func calculateWhole(op string, a, b any) (result any, fits, isWhole bool) {
	x, isLong := a.(time.Duration)
	y, isLongToo := b.(time.Duration)
	n, isNumber := a.(int64)
	k, isNumberToo := b.(int64)
	switch {
	case isNumber && isNumberToo:
		v, fits, isWhole := calculateIntegers(op, n, k)
		return v, fits, isWhole
	case isLong && isLongToo && op != "*":
		v, fits, isWhole := calculateIntegers(op, int64(x), int64(y))
		return time.Duration(v), fits, isWhole
	case op == "*" && isLong && isNumberToo:
		v, fits := multiply(int64(x), k)
		return time.Duration(v), fits, true
	case op == "*" && isNumber && isLongToo:
		v, fits := multiply(n, int64(y))
		return time.Duration(v), fits, true
	}
	return nil, false, false
}

func calculateIntegers(op string, a, b int64) (result int64, fits, isWhole bool) {
	switch op {
	case "+":
		sum := a + b
		return sum, sum > a == (b > 0), true
	case "-":
		difference := a - b
		return difference, difference < a == (b > 0), true
	case "*":
		product, fits := multiply(a, b)
		return product, fits, true
	}
	return 0, false, false
}

// multiply returns a product, and whether it fits into 64 bits.
func multiply(a, b int64) (product int64, fits bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	isNegative := a < 0 != (b < 0)
	limit := uint64(math.MaxInt64)
	if isNegative {
		limit++
	}
	return a * b, high == 0 && low <= limit
}

// magnitude returns a number without its sign. It fits also for the smallest number.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// negate returns -v, or v for the sign +. source is the source text of v.
func negate(sign string, v any, source, whole string) (any, error) {
	switch v := number(v).(type) {
	case int64:
		switch {
		case sign == "+":
			return v, nil
		case v == math.MinInt64:
			return nil, tooLargeError(whole, v)
		}
		return -v, nil
	case float64:
		if sign == "+" {
			return v, nil
		}
		return -v, nil
	}
	return nil, wrongKind(source, v, "a number")
}

// wholeNumber returns a whole number, such as the end of a range. It drops what is behind the point.
func wholeNumber(v any, source string) (int64, error) {
	switch v := number(v).(type) {
	case int64:
		return v, nil
	case float64:
		return truncate(v, source)
	}
	return 0, wrongKind(source, v, "a whole number")
}

// truncate returns a number without what is behind its point.
func truncate(f float64, source string) (int64, error) {
	if f != f || math.Abs(f) >= 1<<63 {
		return 0, errorf("%s is too large for a whole number", source)
	}
	return int64(f), nil
}

// rangeOf returns the whole numbers from a to b.
func (m *meter) rangeOf(a, b operand) ([]any, error) {
	from, err := wholeNumber(a.value, a.text)
	if err != nil {
		return nil, err
	}
	to, err := wholeNumber(b.value, b.text)
	if err != nil || to < from {
		return []any{}, err
	}
	distance := uint64(to) - uint64(from)
	if distance >= uint64(m.elements) {
		m.elements = 0
		return nil, errorf("the expression builds lists of more than %d elements", maxMemory).WithHint("let a step do it")
	}
	m.elements -= int(distance) + 1
	list := make([]any, distance+1)
	for i := range list {
		list[i] = from + int64(i)
	}
	return list, nil
}
