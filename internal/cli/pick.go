package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
)

// pick reads what a person typed as the value of an item, and checks it.
func pick(it *fermata.Item, text string) (any, error) {
	v, err := parsePick(it, text)
	if err != nil {
		return nil, err
	}
	return it.Normalize(v)
}

func parsePick(it *fermata.Item, text string) (any, error) {
	trimmed := strings.TrimSpace(text)
	switch it.ResponseType {
	case fermata.ResponseChoice:
		return pickOption(it, trimmed)
	case fermata.ResponseMultiChoice:
		return pickOptions(it, trimmed)
	case fermata.ResponseBoolean:
		if b, ok := yesOrNo(trimmed); ok {
			return b, nil
		}
		return nil, badPick("%q is neither yes nor no", trimmed)
	case fermata.ResponseApproval:
		switch strings.ToLower(trimmed) {
		case "approve", "approved", "yes", "y":
			return fermata.Approve, nil
		case "reject", "rejected", "no", "n":
			return fermata.Reject, nil
		}
		return nil, badPick("%q is neither approve nor reject", trimmed)
	case fermata.ResponseNumber:
		n, err := strconv.ParseFloat(strings.ReplaceAll(trimmed, "_", ""), 64)
		if err != nil {
			return nil, badPick("%q is no number", trimmed)
		}
		return n, nil
	case fermata.ResponseDate:
		return trimmed, nil
	default:
		return text, nil
	}
}

// pickOption finds an option by its value, its label or its number. What fits
// none is an answer of its own where the item takes one.
func pickOption(it *fermata.Item, text string) (string, error) {
	if o, ok := it.Option(text); ok {
		return o.Value, nil
	}
	for _, o := range it.Options {
		if strings.EqualFold(o.Text(), text) || strings.EqualFold(o.Value, text) {
			return o.Value, nil
		}
	}
	if isInt(text) && numbered(it) {
		return pickNumber(it, text)
	}
	if it.Other && text != "" {
		return text, nil
	}
	return "", badPick("%q is not an option; there are %s", text, choices(it))
}

// mostChoices is how many options an error lists.
const mostChoices = 12

// choices lists the options as people type them.
func choices(it *fermata.Item) string {
	var list []string
	for i, o := range it.Options {
		if i == mostChoices {
			return fmt.Sprintf("%s and %d more", strings.Join(list, ", "), len(it.Options)-i)
		}
		list = append(list, strconv.Quote(o.Value))
	}
	return strings.Join(list, ", ")
}

// pickNumber finds an option by its number, from 1.
func pickNumber(it *fermata.Item, text string) (string, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(it.Options) {
		return "", badPick("there is no option %s; there are %d", text, len(it.Options))
	}
	return it.Options[n-1].Value, nil
}

// pickOptions reads several picks: a JSON list, or one after the other with
// commas between them.
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

// numbered reports whether options can be picked by number: not where an
// option is itself a number, which would have two meanings.
func numbered(it *fermata.Item) bool {
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

func yesOrNo(text string) (yes, ok bool) {
	switch strings.ToLower(text) {
	case "yes", "y", "true", "1", "on":
		return true, true
	case "no", "n", "false", "0", "off":
		return false, true
	}
	return false, false
}

func badPick(format string, args ...any) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, format, args...)
}
