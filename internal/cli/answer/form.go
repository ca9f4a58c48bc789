package answer

import (
	"context"
	"errors"
	"os"
	"slices"

	"charm.land/huh/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// otherValue is the value of a form's option for a free answer. It holds a character that no value of an option may
// have.
const otherValue = "\x00other"

// maxListLines is the largest number of option lines that a form shows at once.
const maxListLines = 12

// field is one item of a form, with the person's choice.
type field struct {
	it    *fermata.Item
	text  string
	list  []string
	yes   bool
	other string
}

// newField returns a field that begins with the suggested value.
func newField(it *fermata.Item) *field {
	f := &field{it: it}
	switch v := SuggestedValue(it).(type) {
	case nil:
	case bool:
		f.yes = v
	case []string:
		f.list = v
	default:
		f.text = render.ValueText(v)
	}
	return f
}

// SuggestedValue returns the value that the asker suggests for an item: the default, else the recommended option if
// there is only one. An approval has no suggestion.
func SuggestedValue(it *fermata.Item) any {
	if it.ResponseType == fermata.ResponseApproval {
		return nil
	}
	if it.Default != nil {
		v, _ := it.Normalize(it.Default)
		return v
	}
	var found any
	for _, o := range it.Options {
		switch {
		case !o.Recommended:
		case found != nil || it.ResponseType != fermata.ResponseChoice:
			return nil
		default:
			found = o.Value
		}
	}
	return found
}

// askValues asks a person for the values of a question, in a form on a terminal, or line by line elsewhere.
func askValues(ctx context.Context, s *session.Session, q *fermata.Question) (map[string]any, error) {
	if s.NoInput {
		return nil, noAnswerError(q)
	}
	if !s.IsInteractive() || os.Getenv("TERM") == "dumb" {
		return askItems(ctx, s, q)
	}
	fields := make([]*field, 0, len(q.Items))
	var groups []*huh.Group
	for i := range q.Items {
		f := newField(&q.Items[i])
		fields = append(fields, f)
		groups = append(groups, f.groups()...)
	}
	stdin, release := s.LendInput()
	defer release()
	form := huh.NewForm(groups...).WithInput(stdin).WithOutput(s.Err).WithWidth(min(s.Width, 100))
	err := form.RunWithContext(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, huh.ErrUserAborted):
		return nil, session.ErrInterrupted
	case err != nil:
		return nil, fermata.Internal("show the form", err)
	}
	return formValues(fields)
}

// formValues returns the chosen values.
func formValues(fields []*field) (map[string]any, error) {
	values := map[string]any{}
	for _, f := range fields {
		v, given, err := f.value()
		if err != nil {
			return nil, fermata.Invalid(fermata.Problem{Field: f.it.Key, Message: err.Error()})
		}
		if given {
			values[f.it.Key] = v
		}
	}
	return values, nil
}

// groups returns the pages of the item: one for its options, and one for a free answer.
func (f *field) groups() []*huh.Group {
	title := terminal.OneLine(f.it.Prompt)
	switch f.it.ResponseType {
	case fermata.ResponseChoice, fermata.ResponseApproval:
		list := huh.NewSelect[string]().Title(title).Options(f.options()...).Value(&f.text)
		if len(f.it.Options) > maxListLines {
			list.Height(maxListLines)
		}
		page := huh.NewGroup(list)
		return []*huh.Group{page, f.otherPage(func() bool { return f.text == otherValue })}
	case fermata.ResponseMultiChoice:
		list := huh.NewMultiSelect[string]().Title(title).Options(f.options()...).Value(&f.list)
		if len(f.it.Options) > maxListLines {
			list.Height(maxListLines)
		}
		page := huh.NewGroup(list)
		return []*huh.Group{page, f.otherPage(func() bool { return slices.Contains(f.list, otherValue) })}
	case fermata.ResponseBoolean:
		return []*huh.Group{huh.NewGroup(huh.NewConfirm().Title(title).Value(&f.yes))}
	case fermata.ResponseText:
		return []*huh.Group{huh.NewGroup(huh.NewText().Title(title).Value(&f.text).Validate(f.check))}
	default:
		return []*huh.Group{huh.NewGroup(huh.NewInput().Title(title).Value(&f.text).Validate(f.check))}
	}
}

// otherPage returns a page for a free answer. It is hidden unless the person chose that option.
func (f *field) otherPage(isChosen func() bool) *huh.Group {
	input := huh.NewInput().Title("your answer").Value(&f.other)
	return huh.NewGroup(input).WithHideFunc(func() bool { return !isChosen() })
}

func (f *field) options() []huh.Option[string] {
	var list []huh.Option[string]
	if f.it.ResponseType == fermata.ResponseApproval {
		return huh.NewOptions(fermata.Reject, fermata.Approve)
	}
	if !f.it.IsRequired() && f.it.ResponseType == fermata.ResponseChoice {
		list = append(list, huh.NewOption("(no answer)", ""))
	}
	for _, o := range f.it.Options {
		label := terminal.OneLine(o.Text())
		if o.Recommended {
			label += "  ★ recommended"
		}
		if o.Danger {
			label += "  ⚠ danger"
		}
		list = append(list, huh.NewOption(label, o.Value))
	}
	if f.it.TakesOther() {
		list = append(list, huh.NewOption("other …", otherValue))
	}
	return list
}

// check refuses a text that the server would not accept, while the person can still correct it.
func (f *field) check(text string) error {
	if text == "" && !f.it.IsRequired() {
		return nil
	}
	_, err := notice.ParseValue(f.it, text)
	return err
}

// value returns the chosen value, or false if the person left the item out.
func (f *field) value() (any, bool, error) {
	switch f.it.ResponseType {
	case fermata.ResponseBoolean:
		return f.yes, true, nil
	case fermata.ResponseMultiChoice:
		list := []string{}
		for _, v := range f.list {
			if v == otherValue {
				v = f.other
			}
			list = append(list, v)
		}
		if len(list) == 0 && !f.it.IsRequired() {
			return nil, false, nil
		}
		v, err := f.it.Normalize(list)
		return v, err == nil, err
	default:
		text := f.text
		if text == otherValue {
			text = f.other
		}
		if text == "" && !f.it.IsRequired() {
			return nil, false, nil
		}
		v, err := notice.ParseValue(f.it, text)
		return v, err == nil, err
	}
}
