package slack

import (
	"encoding/json"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

const (
	formCallback = "fermata_answer"
	blockItem    = "item:"
	blockOther   = "other:"
	blockComment = "comment"
	maxFormText  = 40_000
)

// formData is the data that a form brings back besides the input.
type formData struct {
	buttonValue
	// Channel and Message identify the message from which the form was opened.
	Channel string `json:"c,omitempty"`
	Message string `json:"m,omitempty"`
	// Respond is the address at which the person is told what became of the
	// answer.
	Respond string `json:"u,omitempty"`
}

// buildForm creates the form of a question. It returns false if the question
// does not fit, or if its action is not shown completely.
func buildForm(q *fermata.Question, data formData) (api.ModalViewRequest, bool) {
	data.Key, data.Value = "", nil
	raw, err := json.Marshal(data)
	if err != nil || utf16Length(string(raw)) > maxMetadata {
		return api.ModalViewRequest{}, false
	}
	p := &page{maxBlocks: maxModalBlocks, textLeft: maxFormText}
	p.addBox(q.Title, true)
	p.addBox(q.Body, false)
	showAction(p, q)
	fits := true
	for i := range q.Items {
		fits = addFormItem(p, &q.Items[i], len(q.Items) > 1) && fits
	}
	if q.Type == fermata.Approval {
		comment := api.NewPlainTextInputBlockElement(nil, actionPick).WithMultiline(true).WithMaxLength(maxInput)
		p.add(api.NewInputBlock(blockComment, plainBlock("Comment"), nil, comment).WithOptional(true))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: formCallback, PrivateMetadata: string(raw),
		Title: plainBlock(cut("Answer", maxModalTitle)), Submit: plainBlock("Send answer"), Close: plainBlock("Cancel"),
		Blocks: api.Blocks{BlockSet: p.blocks},
	}, fits && !p.truncated && isActionWhole(q)
}

func addFormItem(p *page, it *fermata.Item, several bool) bool {
	label := notice.OneLine(it.Header)
	if label == "" {
		label = "Your answer"
		if several {
			label = it.Key
		}
	}
	p.addBox(it.Prompt, false)
	if len(it.Options) > 0 {
		p.addBox(options(it), false)
	}
	element, ok := formElement(it)
	if !ok {
		return false
	}
	p.add(api.NewInputBlock(blockItem+it.Key, plainBlock(cut(label, maxLabel)), nil, element).WithOptional(!it.IsRequired() || it.TakesOther()))
	if it.TakesOther() {
		other := api.NewPlainTextInputBlockElement(nil, actionPick).WithMaxLength(maxLength(it))
		p.add(api.NewInputBlock(blockOther+it.Key, plainBlock("Something else"), nil, other).WithOptional(true))
	}
	return true
}

func formElement(it *fermata.Item) (api.BlockElement, bool) {
	switch it.ResponseType {
	case fermata.ResponseText:
		return textInput(it)
	case fermata.ResponseNumber:
		return numberInput(it), true
	case fermata.ResponseBoolean:
		return radio(it, radioOption{"?true", "Yes", true}, radioOption{"?false", "No", false}), true
	case fermata.ResponseApproval:
		// No choice is preselected.
		bare := &fermata.Item{}
		return radio(bare, radioOption{"=" + fermata.Approve, "Approve", nil}, radioOption{"=" + fermata.Reject, "Reject", nil}), true
	case fermata.ResponseDate:
		picker := api.NewDatePickerBlockElement(actionPick)
		picker.InitialDate, _ = it.Default.(string)
		return picker, true
	default:
		if !fitsMenu(it) {
			return nil, false
		}
		return menu(it, actionPick), true
	}
}

func maxLength(it *fermata.Item) int {
	if it.MaxLength != nil && *it.MaxLength > 0 {
		return min(*it.MaxLength, maxInput)
	}
	return maxInput
}

// textInput returns a text field. It returns false if the least length of the
// text is more than a person can type there.
func textInput(it *fermata.Item) (api.BlockElement, bool) {
	input := api.NewPlainTextInputBlockElement(nil, actionPick).WithMultiline(maxLength(it) > 200).WithMaxLength(maxLength(it))
	if it.MinLength != nil && *it.MinLength > 0 {
		if *it.MinLength > maxInput {
			return nil, false
		}
		input.WithMinLength(*it.MinLength)
	}
	if s, ok := it.Default.(string); ok && utf16Length(s) <= maxLength(it) {
		input.WithInitialValue(s)
	}
	return input, true
}

func numberInput(it *fermata.Item) api.BlockElement {
	format := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	input := api.NewNumberInputBlockElement(nil, actionPick, true)
	if it.Min != nil {
		input.WithMinValue(format(*it.Min))
	}
	if it.Max != nil {
		input.WithMaxValue(format(*it.Max))
	}
	if f, ok := it.Default.(float64); ok {
		input.WithInitialValue(format(f))
	}
	return input
}

type radioOption struct {
	value, label string
	meaning      any
}

func radio(it *fermata.Item, options ...radioOption) api.BlockElement {
	element := api.NewRadioButtonsBlockElement(actionPick)
	for _, o := range options {
		choice := api.NewOptionBlockObject(o.value, plainBlock(o.label), nil)
		element.Options = append(element.Options, choice)
		if it.Default != nil && it.Default == o.meaning {
			element.InitialOption = choice
		}
	}
	return element
}

// readPicked reads the typed or picked value. An option that is sent by its
// position is looked up in the item. For such an option, ok is false if the
// item is nil, because the question is not loaded, or if the item has no such
// position.
func readPicked(a api.BlockAction, it *fermata.Item) (value any, ok bool) {
	switch a.Type {
	case "static_select", "radio_buttons":
		return chosenValue(a.SelectedOption.Value, it)
	case "multi_static_select", "checkboxes":
		list := make([]string, 0, len(a.SelectedOptions))
		for _, o := range a.SelectedOptions {
			v, ok := chosenValue(o.Value, it)
			if !ok {
				return nil, false
			}
			if s, isText := v.(string); isText {
				list = append(list, s)
			}
		}
		if len(list) == 0 {
			return nil, true
		}
		return list, true
	case "datepicker":
		return nilIfEmpty(a.SelectedDate), true
	case "number_input":
		number := strings.TrimSpace(a.Value)
		if f, err := strconv.ParseFloat(number, 64); err == nil && fermata.FloatHoldsNumber(number) {
			return f, true
		} else if err == nil {
			return json.Number(number), true // the item says what is wrong with it
		}
		return nilIfEmpty(a.Value), true
	default:
		return nilIfEmpty(a.Value), true
	}
}

// nilIfEmpty returns s, or nil if s is empty.
func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func chosenValue(value string, it *fermata.Item) (any, bool) {
	if value == "" {
		return nil, true
	}
	switch rest := value[1:]; value[0] {
	case '=':
		return rest, true
	case '?':
		return rest == "true", true
	default:
		i, err := strconv.Atoi(rest)
		if it == nil || err != nil || i < 0 || i >= len(it.Options) {
			return nil, false
		}
		return it.Options[i].Value, true
	}
}

// readForm reads a submitted form. ok is false if an option was sent by its
// position and cannot be looked up, such as when q is nil.
func readForm(view *api.View, hash string, q *fermata.Question) (answer fermata.Answer, ok bool) {
	answer = fermata.Answer{Answers: map[string]any{}, ActionHash: hash, Channel: Kind}
	if view.State == nil {
		return answer, true
	}
	for block, actions := range view.State.Values {
		a := actions[actionPick]
		if block == blockComment {
			answer.Comment = a.Value
			continue
		}
		key, isItem := strings.CutPrefix(block, blockItem)
		if !isItem {
			continue
		}
		var it *fermata.Item
		if q != nil {
			it = q.Item(key)
		}
		value, ok := readPicked(a, it)
		if !ok {
			return answer, false
		}
		if value = withOther(value, a.Type, view.State.Values[blockOther+key][actionPick].Value); value != nil {
			answer.Answers[key] = value
		}
	}
	return answer, true
}

// withOther adds the text that the person typed beside the options: as one more
// choice, or as the only one.
func withOther(value any, kind api.ActionType, other string) any {
	if strings.TrimSpace(other) == "" {
		return value
	}
	if kind == "multi_static_select" {
		list, _ := value.([]string)
		return append(list, other)
	}
	return other
}
