package inbox

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/answer"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// inboxForm takes the answer to a question item by item. It shows several values for review before they are sent.
type inboxForm struct {
	q         *fermata.Question
	itemIndex int
	values    map[string]any
	// row is the selected line. picked holds the chosen lines of a multiple choice.
	row    int
	picked map[int]bool
	// typing reports whether the person is typing text.
	typing  bool
	input   textinput.Model
	errText string
}

func newInboxForm(q *fermata.Question) *inboxForm {
	f := &inboxForm{q: q, values: map[string]any{}}
	f.startItem(0)
	return f
}

// startReview goes to the last page with the values.
func (f *inboxForm) startReview(values map[string]any) {
	f.values, f.itemIndex, f.typing = values, len(f.q.Items), false
}

// isReviewing reports whether the form is past all items and shows its last page.
func (f *inboxForm) isReviewing() bool { return f.itemIndex >= len(f.q.Items) }

func (f *inboxForm) item() *fermata.Item { return &f.q.Items[f.itemIndex] }

// startItem starts an item with its earlier answer, or with the suggested value.
func (f *inboxForm) startItem(index int) {
	f.itemIndex, f.row, f.errText, f.typing = index, 0, "", false
	f.picked = map[int]bool{}
	if f.isReviewing() {
		return
	}
	it := f.item()
	current := f.values[it.Key]
	if current == nil {
		current = answer.SuggestedValue(it)
	}
	rows := f.rows()
	list, _ := current.([]string)
	for i, o := range it.Options {
		switch {
		case slices.Contains(list, o.Value):
			f.picked[i] = true
		case current == o.Value:
			f.row = i
		}
	}
	text := ""
	if current != nil {
		text = render.ValueText(current)
	}
	switch {
	case len(rows) == 0:
		f.startTyping(text)
	case current == false:
		f.row = slices.Index(rows, rowNo)
	case it.ResponseType == fermata.ResponseApproval:
		f.row = max(0, slices.Index(rows, text))
	}
}

// startTyping starts the input of text.
func (f *inboxForm) startTyping(text string) {
	f.typing, f.input = true, textinput.New()
	f.input.Prompt = "> "
	f.input.SetValue(text)
	f.input.CursorEnd()
	f.input.Focus()
}

// Lines that are not options.
const (
	rowOther = "other …"
	rowNone  = "(no answer)"
	rowYes   = "yes"
	rowNo    = "no"
)

// rows returns the lines to choose from. Text, numbers and dates have none.
func (f *inboxForm) rows() []string {
	it := f.item()
	var rows []string
	switch it.ResponseType {
	case fermata.ResponseChoice, fermata.ResponseMultiChoice:
		for _, o := range it.Options {
			row := terminal.OneLine(o.Text())
			if o.Recommended {
				row += "  ★ recommended"
			}
			if o.Danger {
				row += "  ⚠ danger"
			}
			rows = append(rows, row)
		}
		if it.TakesOther() {
			rows = append(rows, rowOther)
		}
	case fermata.ResponseBoolean:
		rows = []string{rowYes, rowNo}
	case fermata.ResponseApproval:
		rows = []string{fermata.Reject, fermata.Approve}
	case fermata.ResponseText, fermata.ResponseNumber, fermata.ResponseDate:
		// The person types these.
	}
	if len(rows) > 0 && !it.IsRequired() {
		rows = append(rows, rowNone)
	}
	return rows
}

// handleFormKey handles a key in the form.
func (m *model) handleFormKey(k tea.KeyPressMsg) tea.Cmd {
	f := m.form
	name := k.String()
	switch {
	case name == "esc":
		m.form = nil
		m.status = "nothing was sent"
		return nil
	case name == "shift+tab" && f.itemIndex > 0:
		f.startItem(f.itemIndex - 1)
		return nil
	case f.isReviewing():
		return m.handleReviewKey(name)
	case f.typing:
		return m.handleTypedKey(k)
	}
	rows := f.rows()
	if n := strings.Index("123456789", name); n >= 0 && len(name) == 1 && n < len(rows) {
		f.row = n
		if f.item().ResponseType == fermata.ResponseMultiChoice {
			name = "space"
		} else {
			name = "enter"
		}
	}
	switch name {
	case "j", "down":
		f.row = min(f.row+1, len(rows)-1)
	case "k", "up":
		f.row = max(f.row-1, 0)
	case "y", "n":
		if f.item().ResponseType == fermata.ResponseBoolean {
			return m.storeValue(name == "y")
		}
	case "space", "x":
		if f.item().ResponseType == fermata.ResponseMultiChoice && f.row < len(f.item().Options) {
			f.picked[f.row] = !f.picked[f.row]
		}
	case "enter", "tab":
		return m.pickRow(rows[f.row])
	}
	return nil
}

// pickRow handles the chosen line.
func (m *model) pickRow(row string) tea.Cmd {
	f := m.form
	it := f.item()
	switch {
	case f.row >= len(it.Options) && row == rowNone:
		delete(f.values, it.Key)
		return m.goToNextItem()
	case f.row >= len(it.Options) && row == rowOther && it.TakesOther():
		f.startTyping("")
		return nil
	case it.ResponseType == fermata.ResponseMultiChoice:
		return m.storeValue(f.chosenValues())
	case it.ResponseType == fermata.ResponseChoice:
		return m.storeValue(it.Options[f.row].Value)
	case it.ResponseType == fermata.ResponseBoolean:
		return m.storeValue(row == rowYes)
	default:
		return m.storeValue(row)
	}
}

// chosenValues returns the values of the chosen lines.
func (f *inboxForm) chosenValues() []string {
	list := []string{}
	for i, o := range f.item().Options {
		if f.picked[i] {
			list = append(list, o.Value)
		}
	}
	return list
}

// handleTypedKey handles a key while the person types text.
func (m *model) handleTypedKey(k tea.KeyPressMsg) tea.Cmd {
	f := m.form
	it := f.item()
	if name := k.String(); name != "enter" && name != "tab" {
		var cmd tea.Cmd
		f.input, cmd = f.input.Update(k)
		return cmd
	}
	text := f.input.Value()
	if strings.TrimSpace(text) == "" && !it.IsRequired() {
		delete(f.values, it.Key)
		return m.goToNextItem()
	}
	if it.ResponseType == fermata.ResponseMultiChoice {
		return m.storeValue(append(f.chosenValues(), text))
	}
	v, err := notice.ParseUnchecked(it, text)
	if err != nil {
		f.errText = terminal.OneLine(err.Error())
		return nil
	}
	return m.storeValue(v)
}

// storeValue checks a value, stores it and goes to the next item.
func (m *model) storeValue(v any) tea.Cmd {
	f := m.form
	v, err := f.item().Normalize(v)
	if err != nil {
		f.errText = terminal.OneLine(err.Error())
		return nil
	}
	f.values[f.item().Key] = v
	return m.goToNextItem()
}

// goToNextItem goes to the next item. If the question has only one item, it sends an answer that is not dangerous.
func (m *model) goToNextItem() tea.Cmd {
	f := m.form
	f.startItem(f.itemIndex + 1)
	if f.isReviewing() && len(f.q.Items) == 1 && !answer.NeedsConsent(f.q, f.values) {
		return m.submit()
	}
	return nil
}

// handleReviewKey handles a key on the last page.
func (m *model) handleReviewKey(name string) tea.Cmd {
	danger := answer.NeedsConsent(m.form.q, m.form.values)
	switch {
	case name == "y", name == "enter" && !danger:
		return m.submit()
	case name == "b":
		m.form.startItem(len(m.form.q.Items) - 1)
	}
	return nil
}

func (m *model) submit() tea.Cmd {
	f := m.form
	m.form = nil
	return m.send(f.q, f.values)
}

// lines returns the form in at most height lines.
func (f *inboxForm) lines(p terminal.Printer, height int) []string {
	if f.isReviewing() {
		return f.reviewLines(p)
	}
	it := f.item()
	head := "Your answer"
	if n := len(f.q.Items); n > 1 {
		head = fmt.Sprintf("%d of %d: %s", f.itemIndex+1, n, terminal.OneLine(it.Prompt))
	}
	lines := []string{p.Bold(ansi.Truncate(head, p.Width, "…"))}
	keys := "enter takes it"
	if it.ResponseType == fermata.ResponseDate {
		keys = "a date such as 2027-01-31; " + keys
	}
	if f.typing {
		lines = append(lines, f.input.View())
	} else {
		if it.ResponseType == fermata.ResponseMultiChoice {
			keys = "space picks, enter takes what is picked"
		}
		lines = append(lines, f.rowLines(p, max(height-3, 3))...)
	}
	if len(f.q.Items) > 1 {
		keys += ", shift+tab goes back"
	}
	if f.errText != "" {
		lines = append(lines, p.Red(ansi.Truncate("! "+f.errText, p.Width, "…")))
	}
	return append(lines, p.Dim(ansi.Truncate(keys+", esc leaves", p.Width, "…")))
}

// rowLines returns the lines to choose from, around the selected one.
func (f *inboxForm) rowLines(p terminal.Printer, room int) []string {
	rows := f.rows()
	first := min(max(f.row-room+1, 0), max(len(rows)-room, 0))
	var lines []string
	for i := first; i < min(first+room, len(rows)); i++ {
		mark := "  "
		if i == f.row {
			mark = "> "
		}
		box := ""
		if f.item().ResponseType == fermata.ResponseMultiChoice && i < len(f.item().Options) {
			box = "[ ] "
			if f.picked[i] {
				box = "[x] "
			}
		}
		line := ansi.Truncate(fmt.Sprintf("%s%d  %s%s", mark, i+1, box, rows[i]), p.Width, "…")
		if i == f.row {
			line = p.Bold(line)
		}
		lines = append(lines, line)
	}
	return lines
}

func (f *inboxForm) reviewLines(p terminal.Printer) []string {
	lines := []string{p.Bold("Send this?")}
	for i := range f.q.Items {
		it := &f.q.Items[i]
		text := "(no answer)"
		if v := f.values[it.Key]; v != nil {
			text = terminal.OneLine(render.ValueText(v))
		}
		lines = append(lines, ansi.Truncate("  "+terminal.OneLine(it.Key)+": "+text, p.Width, "…"))
	}
	if risky := answer.DangerousOptions(f.q, f.values); len(risky) > 0 {
		lines = append(lines, p.Red(ansi.Truncate("⚠ danger: "+terminal.OneLine(strings.Join(risky, ", ")), p.Width, "…")))
		return append(lines, p.Dim("y sends, b goes back, esc leaves"))
	}
	return append(lines, p.Dim("enter sends, b goes back, esc leaves"))
}
