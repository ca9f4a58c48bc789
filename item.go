package fermata

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ResponseType is the form in which an item is answered.
type ResponseType string

// Response types.
const (
	ResponseText        ResponseType = "text"
	ResponseChoice      ResponseType = "choice"
	ResponseMultiChoice ResponseType = "multi_choice"
	ResponseBoolean     ResponseType = "boolean"
	ResponseApproval    ResponseType = "approval"
	ResponseNumber      ResponseType = "number"
	ResponseDate        ResponseType = "date"
)

// ResponseTypes lists every response type.
var ResponseTypes = []ResponseType{
	ResponseText, ResponseChoice, ResponseMultiChoice, ResponseBoolean, ResponseApproval, ResponseNumber, ResponseDate,
}

// Values of an approval.
const (
	Approve = "approve"
	Reject  = "reject"
)

// Limits of questions and their items.
const (
	MaxItems      = 20
	MaxOptions    = 200
	MaxAssignees  = 50
	MaxMetadata   = 50
	MaxEscalation = 10
	maxPreview    = 200_000
	// MaxPrompt is the maximum length of an item's prompt, in characters.
	MaxPrompt = 4000
	// MaxHeader is the maximum length of an item's header, in characters.
	MaxHeader = 80
	// MaxAnswerText is the maximum length of a text answer in characters, if
	// the item sets no limit of its own.
	MaxAnswerText = 20_000
)

// Option is one choice of an item.
type Option struct {
	Value       string `json:"value" minLength:"1" maxLength:"200"`
	Label       string `json:"label,omitempty" maxLength:"200" doc:"what people read; the value when empty"`
	Description string `json:"description,omitempty" maxLength:"2000"`
	Recommended bool   `json:"recommended,omitempty"`
	// Danger marks an option that no policy may choose. A deadline may choose it only if the asker sets
	// allow_danger_default.
	Danger bool `json:"danger,omitempty"`
}

// UnmarshalJSON accepts the bare string "x" as a short form of {"value": "x"}.
func (o *Option) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*o = Option{}
		return json.Unmarshal(data, &o.Value)
	}
	type plain Option
	return json.Unmarshal(data, (*plain)(o))
}

// Text returns the text that people read: the label, or the value if there is no label.
func (o Option) Text() string {
	if o.Label != "" {
		return o.Label
	}
	return o.Value
}

// Item is one part of a question, with one form of answer.
type Item struct {
	Key          string       `json:"key,omitempty" maxLength:"64"`
	Prompt       string       `json:"prompt" minLength:"1" maxLength:"4000"`
	Header       string       `json:"header,omitempty" maxLength:"80"`
	ResponseType ResponseType `json:"response_type,omitempty" enum:"text,choice,multi_choice,boolean,approval,number,date"`
	Options      []Option     `json:"options,omitempty"`
	// Other lets people write their own answer instead of choosing an option.
	// In a stored question it is true or absent.
	Other *bool `json:"other,omitempty" doc:"an answer in one's own words is possible beside the options"`
	// Required is true when it is absent.
	Required *bool `json:"required,omitempty"`
	Default  any   `json:"default,omitempty"`
	// The limits of an answer: MinLength and MaxLength in characters of a text,
	// Min and Max for the value of a number or the number of choices.
	MinLength *int     `json:"min_length,omitempty" minimum:"0"`
	MaxLength *int     `json:"max_length,omitempty" minimum:"0"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Pattern   string   `json:"pattern,omitempty" maxLength:"500" doc:"RE2, matched against a whole text answer"`
}

// IsRequired reports whether an answer must have a value for the item.
func (it *Item) IsRequired() bool { return it.Required == nil || *it.Required }

// TakesOther reports whether people may write their own answer instead of
// choosing an option.
func (it *Item) TakesOther() bool { return it.Other != nil && *it.Other }

// IsStrict reports whether the item has options and only they are valid answers.
func (it *Item) IsStrict() bool { return len(it.Options) > 0 && !it.TakesOther() }

// Option returns the option with the value, and whether there is one.
func (it *Item) Option(value string) (Option, bool) {
	i := slices.IndexFunc(it.Options, func(o Option) bool { return o.Value == value })
	if i < 0 {
		return Option{}, false
	}
	return it.Options[i], true
}

// check adds the problems of the item as it was asked. The names of its fields
// begin with prefix.
func (it *Item) check(ps *problems, prefix string, form askForm) {
	ps.checkText(prefix+form.prompt, it.Prompt, 1, MaxPrompt)
	ps.checkText(prefix+"header", it.Header, 0, MaxHeader)
	ps.checkName(prefix+"key", it.Key)
	if !slices.Contains(ResponseTypes, it.ResponseType) {
		ps.add(prefix+"response_type", "is %q, must be one of text, choice, multi_choice, boolean, approval, number, date", it.ResponseType)
		return
	}
	it.checkOptions(ps, prefix, form)
	before := len(*ps)
	it.checkLimits(ps, prefix)
	// With invalid limits or without options, the default cannot be checked.
	isKnown := len(*ps) == before && (len(it.Options) > 0 || !it.isChoice())
	if isKnown && it.Default != nil {
		value, err := it.Normalize(it.Default)
		if err != nil {
			ps.add(prefix+"default", "is no valid answer: %s", err)
			return
		}
		it.Default = value
	}
}

// isChoice reports whether people choose one or several of the item's options.
func (it *Item) isChoice() bool {
	return it.ResponseType == ResponseChoice || it.ResponseType == ResponseMultiChoice
}

func (it *Item) checkOptions(ps *problems, path string, form askForm) {
	choice := it.isChoice()
	switch {
	case choice && len(it.Options) == 0:
		ps.add(path+"options", "must name at least one option")
	case !choice && len(it.Options) > 0:
		ps.add(path+"options", "is allowed only with choice and multi_choice")
	case len(it.Options) > MaxOptions:
		ps.add(path+"options", "has %d options, may have at most %d", len(it.Options), MaxOptions)
	}
	seen := make(map[string]bool, len(it.Options))
	for i, o := range it.Options {
		prefix := fmt.Sprintf("%soptions[%d].", path, i)
		ps.checkText(prefix+form.value, o.Value, 1, 200)
		ps.checkText(prefix+"label", o.Label, 0, 200)
		ps.checkText(prefix+"description", o.Description, 0, 2000)
		if seen[o.Value] {
			ps.add(prefix+form.value, "%q stands twice", o.Value)
		}
		seen[o.Value] = true
	}
}

// checkLimits refuses limits that contradict each other or that no answer could
// meet. Otherwise the question could never be answered.
func (it *Item) checkLimits(ps *problems, prefix string) {
	it.checkUnusedLimits(ps, prefix)
	switch {
	case it.MaxLength != nil && *it.MaxLength < 1:
		ps.add(prefix+"max_length", "leaves no room for an answer")
	case it.MinLength != nil && it.MaxLength != nil && *it.MinLength > *it.MaxLength:
		ps.add(prefix+"min_length", "is above max_length")
	case it.MinLength != nil && *it.MinLength > it.maxLength():
		ps.add(prefix+"min_length", "is above %d, the most that an answer may have", it.maxLength())
	}
	if it.Min != nil && it.Max != nil && *it.Min > *it.Max {
		ps.add(prefix+"min", "is above max")
	} else if it.ResponseType == ResponseMultiChoice {
		it.checkCounts(ps, prefix)
	}
	ps.checkText(prefix+"pattern", it.Pattern, 0, 500)
	if it.Pattern != "" {
		if _, err := compileWholePattern(it.Pattern); err != nil {
			ps.add(prefix+"pattern", "is no regular expression (RE2): %v", err)
		}
	}
}

// checkUnusedLimits refuses limits that do not apply to answers of this type.
func (it *Item) checkUnusedLimits(ps *problems, prefix string) {
	text := it.ResponseType == ResponseText
	counted := it.ResponseType == ResponseNumber || it.ResponseType == ResponseMultiChoice
	for _, limit := range []struct {
		name   string
		unread bool
	}{
		{"min", it.Min != nil && !counted},
		{"max", it.Max != nil && !counted},
		{"min_length", it.MinLength != nil && !text},
		{"max_length", it.MaxLength != nil && !text && !it.TakesOther()},
		{"pattern", it.Pattern != "" && !text},
	} {
		if limit.unread {
			ps.add(prefix+limit.name, "is no limit of a %s answer", it.ResponseType)
		}
	}
}

// checkCounts checks the limits for the number of choices.
func (it *Item) checkCounts(ps *problems, prefix string) {
	switch {
	case it.Min != nil && !it.TakesOther() && *it.Min > float64(len(it.Options)):
		ps.add(prefix+"min", "asks for more choices than there are options")
	case it.Max != nil && *it.Max < 1:
		ps.add(prefix+"max", "leaves nothing to choose")
	case it.Min != nil && it.Max != nil && math.Ceil(*it.Min) > math.Floor(*it.Max):
		ps.add(prefix+"min", "leaves no number of choices up to max")
	}
}

// maxLength returns the maximum length of a text answer in characters.
func (it *Item) maxLength() int {
	if it.MaxLength != nil {
		return *it.MaxLength
	}
	return MaxAnswerText
}

// compileWholePattern compiles a pattern so that it must match the whole text, as the
// pattern attribute of HTML forms does.
func compileWholePattern(pattern string) (*regexp.Regexp, error) {
	// A pattern such as "a)|(?:b" compiles only inside the added parentheses,
	// and would escape from them.
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(`^(?:` + pattern + `)$`)
}

// Normalize checks a value against the item and returns it in the one form that
// is stored: string, []string, bool or float64.
func (it *Item) Normalize(value any) (any, error) {
	switch it.ResponseType {
	case ResponseText:
		return it.normalizeText(value)
	case ResponseChoice:
		return it.normalizeChoice(value)
	case ResponseMultiChoice:
		return it.normalizeChoices(value)
	case ResponseBoolean:
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, Errorf(CodeInvalidRequest, "must be true or false")
	case ResponseApproval:
		if value == Approve || value == Reject {
			return value, nil
		}
		return nil, Errorf(CodeInvalidRequest, `must be "approve" or "reject"`)
	case ResponseNumber:
		return it.normalizeNumber(value)
	case ResponseDate:
		return normalizeDate(value)
	default:
		return nil, Errorf(CodeInvalidRequest, "has the unknown response type %q", it.ResponseType)
	}
}

func (it *Item) normalizeText(value any) (any, error) {
	s, ok := value.(string)
	if !ok {
		return nil, Errorf(CodeInvalidRequest, "must be a text")
	}
	n, longest := utf8.RuneCountInString(s), it.maxLength()
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return nil, Errorf(CodeInvalidRequest, "is not valid UTF-8 text")
	case strings.TrimSpace(s) == "":
		return nil, Errorf(CodeInvalidRequest, "must not be empty")
	case it.MinLength != nil && n < *it.MinLength:
		return nil, Errorf(CodeInvalidRequest, "has %d characters, needs at least %d", n, *it.MinLength)
	case n > longest:
		return nil, Errorf(CodeInvalidRequest, "has %d characters, may have at most %d", n, longest)
	}
	if it.Pattern != "" {
		re, err := compileWholePattern(it.Pattern)
		if err != nil {
			return nil, Internal("compile a stored pattern", err)
		}
		if !re.MatchString(s) {
			return nil, Errorf(CodeInvalidRequest, "does not match the pattern %s", it.Pattern)
		}
	}
	return s, nil
}

func (it *Item) normalizeChoice(value any) (any, error) {
	s, ok := value.(string)
	if !ok {
		return nil, Errorf(CodeInvalidRequest, "must be one of the options, as a text")
	}
	if _, ok := it.Option(s); ok {
		return s, nil
	}
	if it.TakesOther() {
		free := Item{ResponseType: ResponseText, MaxLength: it.MaxLength}
		return free.normalizeText(value)
	}
	return nil, Errorf(CodeInvalidRequest, "%q is not an option; options are %s", s, it.optionList())
}

func (it *Item) optionList() string {
	values := make([]string, 0, len(it.Options))
	for _, o := range it.Options {
		values = append(values, fmt.Sprintf("%q", o.Value))
	}
	return strings.Join(values, ", ")
}

func (it *Item) normalizeChoices(value any) (any, error) {
	list, ok := asStrings(value)
	if !ok {
		return nil, Errorf(CodeInvalidRequest, "must be a list of options")
	}
	chosen := make([]string, 0, len(list))
	for _, s := range list {
		v, err := it.normalizeChoice(s)
		if err != nil {
			return nil, err
		}
		if text := v.(string); !slices.Contains(chosen, text) {
			chosen = append(chosen, text)
		}
	}
	switch n := float64(len(chosen)); {
	case it.Min != nil && n < *it.Min:
		return nil, Errorf(CodeInvalidRequest, "has %d choices, needs at least %v", len(chosen), *it.Min)
	case it.Max != nil && n > *it.Max:
		return nil, Errorf(CodeInvalidRequest, "has %d choices, may have at most %v", len(chosen), *it.Max)
	case it.Min == nil && it.IsRequired() && n == 0:
		return nil, Errorf(CodeInvalidRequest, "must name at least one option")
	}
	return it.sortChoices(chosen), nil
}

// sortChoices sorts the choices in the order of the options, so that the same
// choices give the same answer in whatever order they were clicked.
func (it *Item) sortChoices(chosen []string) []string {
	index := func(v string) int {
		i := slices.IndexFunc(it.Options, func(o Option) bool { return o.Value == v })
		if i < 0 {
			return len(it.Options)
		}
		return i
	}
	slices.SortStableFunc(chosen, func(a, b string) int { return index(a) - index(b) })
	return chosen
}

func asStrings(value any) ([]string, bool) {
	switch list := value.(type) {
	case []string:
		return list, true
	case []any:
		out := make([]string, 0, len(list))
		for _, v := range list {
			s, ok := v.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	default:
		return nil, false
	}
}

func (it *Item) normalizeNumber(value any) (any, error) {
	var n float64
	switch v := value.(type) {
	case float64:
		n = v
	case int:
		return it.normalizeNumber(int64(v))
	case int64:
		return it.normalizeNumber(json.Number(strconv.FormatInt(v, 10)))
	case json.Number:
		f, err := v.Float64()
		if err == nil && !FloatHoldsNumber(v.String()) || errors.Is(err, strconv.ErrRange) {
			return nil, Errorf(CodeInvalidRequest, "has too many digits or is too large: an answer keeps 15 digits of a number exactly")
		}
		if err != nil {
			return nil, Errorf(CodeInvalidRequest, "must be a number")
		}
		n = f
	default:
		return nil, Errorf(CodeInvalidRequest, "must be a number")
	}
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return nil, Errorf(CodeInvalidRequest, "must be a finite number")
	case it.Min != nil && n < *it.Min:
		return nil, Errorf(CodeInvalidRequest, "is below %s", numberText(*it.Min))
	case it.Max != nil && n > *it.Max:
		return nil, Errorf(CodeInvalidRequest, "is above %s", numberText(*it.Max))
	}
	return n, nil
}

func normalizeDate(value any) (any, error) {
	s, ok := value.(string)
	if ok {
		if d, err := time.Parse(time.DateOnly, s); err == nil {
			return d.Format(time.DateOnly), nil
		}
	}
	return nil, Errorf(CodeInvalidRequest, "must be a date such as 2027-01-31")
}
