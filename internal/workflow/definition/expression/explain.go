package expression

import (
	"strings"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

var (
	singleEquals  = lazyregexp.New(`[^=!<>]=[^=]`)
	lacksOperand  = lazyregexp.New(`([-+*/%<>=!&|?:,.]|\b(in|and|or|not|contains|startsWith|endsWith|matches))\s*$`)
	wrongLiteral  = lazyregexp.New(`^invalid (\w+) literal: strconv\.\w+: parsing "([^"]*)": (.*)$`)
	operatorCalls = lazyregexp.New(`\b(contains|startsWith|endsWith)\s*\(`)
)

// explain rewords a message of the library. It adds a hint if the text shows
// what the author meant.
func explain(text, message string) (rewordedMessage, hint string) {
	if m := wrongLiteral().FindStringSubmatch(message); m != nil {
		return explainLiteral(m[1], m[2], m[3])
	}
	switch {
	case strings.Contains(message, "memory budget"):
		return "the expression builds lists of more than 100000 elements", "let a step do it"
	case strings.Contains(message, "maximum allowed nodes"):
		return "the expression has too many parts", "let a step compute it, or split it over several"
	case operatorCalls().MatchString(text):
		return message, `contains, startsWith and endsWith stand between: title contains "x"`
	case strings.Contains(text, "{{"):
		return message, "an expression stands within {{ }} once, as a whole"
	case singleEquals().MatchString(text):
		return message, "compare with =="
	case strings.Contains(text, "${"):
		return message, "write the name alone, without ${ }"
	case strings.Contains(message, "unexpected token EOF"), strings.Contains(message, "literal not terminated"):
		if lacksOperand().MatchString(text) {
			return message, "it ends too early: a value is missing at its end"
		}
		return message, "it ends too early: a bracket or a quote is not closed"
	}
	return message, ""
}

// explainLiteral rewords the library's message about a number, of which kind says how it is written.
func explainLiteral(kind, number, fault string) (message, hint string) {
	switch {
	case !strings.Contains(fault, "out of range"):
		return number + " is no number", "write it in decimal digits, or quote the text"
	case kind == "float":
		return number + " is too large for a number", ""
	case kind == "integer":
		return number + " is too large for a whole number", "write " + number + ".0: about 15 digits of it are exact"
	}
	return number + " is too large for a whole number", ""
}
