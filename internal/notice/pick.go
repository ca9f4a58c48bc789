package notice

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
)

// ParseValue reads a text that a person typed at a terminal as the value of an item,
// and checks it. The exact value of an option takes precedence over any other
// meaning, because scripts write values. A text from a message is read by
// [ParseReply] instead, which refuses a text with two meanings.
func ParseValue(it *fermata.Item, text string) (any, error) {
	v, err := ParseUnchecked(it, text)
	if err != nil {
		return nil, err
	}
	return it.Normalize(v)
}

// ParseUnchecked reads the value as [ParseValue] does, but does not check the item's limits.
func ParseUnchecked(it *fermata.Item, text string) (any, error) {
	trimmed := strings.TrimSpace(text)
	switch it.ResponseType {
	case fermata.ResponseChoice:
		return pickOption(it, trimmed)
	case fermata.ResponseMultiChoice:
		return pickOptions(it, trimmed)
	case fermata.ResponseBoolean:
		if b, ok := ParseYesNo(trimmed); ok {
			return b, nil
		}
		return nil, invalidAnswerError("%q is neither yes nor no", trimmed)
	case fermata.ResponseApproval:
		if decision, ok := parseApproval(trimmed); ok {
			return decision, nil
		}
		return nil, invalidAnswerError("%q is neither approve nor reject", trimmed)
	case fermata.ResponseNumber:
		return readNumber(trimmed)
	case fermata.ResponseDate:
		return trimmed, nil
	default:
		return text, nil
	}
}

// pickOption finds an option by its value, its label or its number. A text that
// fits no option is an answer of its own if the item takes one.
func pickOption(it *fermata.Item, text string) (string, error) {
	if o, ok := it.Option(text); ok {
		return o.Value, nil
	}
	for _, o := range it.Options {
		if strings.EqualFold(o.Text(), text) || strings.EqualFold(o.Value, text) {
			return o.Value, nil
		}
	}
	if isInt(text) && CanPickByNumber(it) {
		return pickNumber(it, text)
	}
	if it.TakesOther() && text != "" {
		return text, nil
	}
	return "", invalidAnswerError("%q is not an option; there are %s", text, listChoices(it))
}

// maxChoicesListed is how many options an error lists.
const maxChoicesListed = 12

// listChoices lists the options as people type them.
func listChoices(it *fermata.Item) string {
	var list []string
	for i, o := range it.Options {
		if i == maxChoicesListed {
			return fmt.Sprintf("%s and %d more", strings.Join(list, ", "), len(it.Options)-i)
		}
		list = append(list, strconv.Quote(o.Value))
	}
	return strings.Join(list, ", ")
}

// pickNumber finds an option by its number, counted from 1.
func pickNumber(it *fermata.Item, text string) (string, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(it.Options) {
		return "", invalidAnswerError("there is no option %s; there are %d", text, len(it.Options))
	}
	return it.Options[n-1].Value, nil
}

// pickOptions reads several picks: a JSON list, or picks that are separated by
// commas.
func pickOptions(it *fermata.Item, text string) ([]string, error) {
	var parts []string
	if _, whole := it.Option(text); whole {
		parts = []string{text}
	} else if json.Unmarshal([]byte(text), &parts) != nil {
		parts = strings.Split(text, ",")
	}
	values := []string{}
	for _, part := range parts {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		v, err := pickOption(it, part)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// CanPickByNumber reports whether options can be picked by number. They cannot if an
// option is itself a number, because a number would have two meanings.
func CanPickByNumber(it *fermata.Item) bool {
	for _, o := range it.Options {
		if isInt(o.Value) || isInt(o.Text()) {
			return false
		}
	}
	return true
}

func isInt(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// ParseYesNo reads a yes or a no, in English or German. ok is false if the text is
// neither.
func ParseYesNo(text string) (yes, ok bool) {
	switch strings.ToLower(text) {
	case "yes", "y", "true", "1", "on", "ja", "j":
		return true, true
	case "no", "n", "false", "0", "off", "nein":
		return false, true
	}
	return false, false
}

// parseApproval reads an approval or a rejection, in English or German.
func parseApproval(text string) (string, bool) {
	switch strings.ToLower(text) {
	case "approve", "approved", "yes", "y", "ja", "j", "genehmigen", "genehmigt":
		return fermata.Approve, true
	case "reject", "rejected", "no", "n", "nein", "ablehnen", "abgelehnt":
		return fermata.Reject, true
	}
	return "", false
}

func readNumber(text string) (float64, error) {
	plain := strings.ReplaceAll(text, "_", "")
	n, err := strconv.ParseFloat(plain, 64)
	switch {
	case err == nil && !math.IsInf(n, 0) && !fermata.FloatHoldsNumber(plain), errors.Is(err, strconv.ErrRange):
		return 0, invalidAnswerError("%q has too many digits or is too large: an answer keeps 15 digits of a number exactly", text)
	case err == nil:
		return n, nil
	case strings.Contains(text, ","):
		return 0, invalidAnswerError("%q is no number: write a point before the decimals, and nothing between thousands", text)
	default:
		return 0, invalidAnswerError("%q is no number", text)
	}
}

func invalidAnswerError(format string, args ...any) *fermata.Error {
	return fermata.Errorf(fermata.CodeInvalidRequest, format, args...)
}
