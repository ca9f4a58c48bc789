package slack

import (
	"fmt"
	"strconv"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// These are the ids of buttons and menus. The ids of buttons that contain an
// answer begin with "answer".
const (
	actionAnswer = "answer"
	actionSend   = "send"
	actionForm   = "form"
	actionOpen   = "open"
	actionPick   = "pick"
)

// maxButtons is how many options are shown as buttons. More options are shown
// as a menu.
const maxButtons = 5

// isAnswerable reports whether the question can be answered in Slack, in its
// message or in a form.
func isAnswerable(q *fermata.Question) bool {
	if len(q.Items) == 1 && !needsForm(&q.Items[0]) {
		return fitsMenu(&q.Items[0])
	}
	_, ok := buildForm(q, formData{buttonValue: buttonValue{Question: q.ID}})
	return ok
}

// needsForm reports whether an item needs typed text.
func needsForm(it *fermata.Item) bool {
	return it.ResponseType == fermata.ResponseText || it.ResponseType == fermata.ResponseNumber
}

func fitsMenu(it *fermata.Item) bool { return len(it.Options) <= maxOptions }

// controls returns the blocks with buttons and menus.
func controls(n *notice.Notice, a address) []api.Block {
	q := n.Question
	base := buttonValue{Question: q.ID, Delivery: a.delivery, Reply: a.reply, Hash: q.ActionHash}
	var blocks []api.Block
	var buttons []api.BlockElement
	if len(q.Items) == 1 {
		it := &q.Items[0]
		base.Key = it.Key
		blocks, buttons = itemControls(q, it, base)
	} else {
		buttons = append(buttons, formButton("Answer…", base))
	}
	if n.Open != "" {
		buttons = append(buttons, openButton(n.Open))
	}
	return append(blocks, api.NewActionBlock("", buttons...))
}

func itemControls(q *fermata.Question, it *fermata.Item, base buttonValue) (blocks []api.Block, buttons []api.BlockElement) {
	switch it.ResponseType {
	case fermata.ResponseApproval:
		return nil, approvalButtons(q, base)
	case fermata.ResponseBoolean:
		return nil, []api.BlockElement{
			answerButton("yes", "Yes", base, true), answerButton("no", "No", base, false),
		}
	case fermata.ResponseChoice, fermata.ResponseMultiChoice:
		if it.ResponseType == fermata.ResponseChoice && len(it.Options) <= maxButtons {
			buttons = optionButtons(it, base)
		} else {
			blocks, buttons = pickAndSend(menu(it, actionPick), "Choose", it, base)
		}
		if it.TakesOther() {
			buttons = append(buttons, formButton("Something else…", base))
		}
		return blocks, buttons
	case fermata.ResponseDate:
		return pickAndSend(api.NewDatePickerBlockElement(actionPick), "Pick a date", it, base)
	default:
		return nil, []api.BlockElement{formButton("Answer…", base)}
	}
}

func approvalButtons(q *fermata.Question, base buttonValue) []api.BlockElement {
	approve := answerButton(fermata.Approve, "Approve", base, fermata.Approve).WithStyle(api.StylePrimary)
	if q.Risk == fermata.RiskHigh || q.Risk == fermata.RiskCritical {
		approve.WithConfirm(confirmDialog("Approve "+quoteText(q.Title)+"? The risk is "+string(q.Risk)+".", "Approve"))
	}
	return []api.BlockElement{
		approve,
		answerButton(fermata.Reject, "Reject", base, fermata.Reject).WithStyle(api.StyleDanger),
		formButton("With a comment…", base),
	}
}

func optionButtons(it *fermata.Item, base buttonValue) []api.BlockElement {
	buttons := make([]api.BlockElement, 0, len(it.Options)+2)
	labels := optionLabels(it)
	for i, o := range it.Options {
		b := answerButton(strconv.Itoa(i), labels[i], base, o.Value)
		switch {
		case o.Danger:
			b.WithStyle(api.StyleDanger).WithConfirm(confirmDangerous(labels[i]))
		case o.Recommended:
			b.WithStyle(api.StylePrimary)
		}
		buttons = append(buttons, b)
	}
	return buttons
}

// optionLabels returns the labels for buttons and menus. The message lists the
// options in full.
func optionLabels(it *fermata.Item) []string {
	labels := notice.Marks(it)
	for i, o := range it.Options {
		labels[i] = cut(labels[i]+" · "+notice.OneLine(o.Text()), min(maxButton, maxOptionText))
	}
	return labels
}

func answerButton(id, label string, p buttonValue, value any) *api.ButtonBlockElement {
	p.Value = value
	return api.NewButtonBlockElement(actionAnswer+":"+id, p.encode(), plainBlock(cut(label, maxButton)))
}

func formButton(label string, p buttonValue) *api.ButtonBlockElement {
	return api.NewButtonBlockElement(actionForm, p.encode(), plainBlock(label))
}

// pickAndSend returns a menu or picker, and a button that sends the pick. So a
// wrong pick in the menu decides nothing by itself.
func pickAndSend(element api.BlockElement, label string, it *fermata.Item, base buttonValue) ([]api.Block, []api.BlockElement) {
	send := api.NewButtonBlockElement(actionSend, base.encode(), plainBlock("Send answer")).WithStyle(api.StylePrimary)
	for i, o := range it.Options {
		if o.Danger {
			send.WithStyle(api.StyleDanger).WithConfirm(confirmDialog(optionLabels(it)[i]+" is marked as dangerous. Send what you picked?", "Send"))
			break
		}
	}
	section := api.NewSectionBlock(plainBlock(label+":"), nil, api.NewAccessory(element))
	return []api.Block{section}, []api.BlockElement{send}
}

// menu returns a menu with the options of an item.
func menu(it *fermata.Item, action string) api.BlockElement {
	options := make([]*api.OptionBlockObject, len(it.Options))
	labels := optionLabels(it)
	for i, o := range it.Options {
		options[i] = api.NewOptionBlockObject(optionValue(i, o), plainBlock(labels[i]), nil)
	}
	if it.ResponseType == fermata.ResponseMultiChoice {
		return api.NewOptionsMultiSelectBlockElement(api.MultiOptTypeStatic, plainBlock("Choose"), action, options...)
	}
	return api.NewOptionsSelectBlockElement(api.OptTypeStatic, plainBlock("Choose"), action, options...)
}

// optionValue returns the value that a menu sends for an option: the option's
// value, or its position if Slack has no room for the value.
func optionValue(i int, o fermata.Option) string {
	if v := "=" + o.Value; utf16Length(v) <= maxOptionValue {
		return v
	}
	return "#" + strconv.Itoa(i)
}

func confirmDangerous(label string) *api.ConfirmationBlockObject {
	return confirmDialog(fmt.Sprintf("%s is marked as dangerous.", label), "Go on")
}

func confirmDialog(text, yes string) *api.ConfirmationBlockObject {
	return api.NewConfirmationBlockObject(plainBlock("Are you sure?"), plainBlock(cut(text, maxConfirm)), plainBlock(yes), plainBlock("Back")).WithStyle(api.StyleDanger)
}
