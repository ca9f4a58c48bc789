package inbox

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// inboxKeyHelp is the help text for the keys.
var inboxKeyHelp = [][2]string{
	{"j k ↓ ↑", "next and previous question; in a question: a line down and up"},
	{"space b", "a page down and up"},
	{"g G", "first and last"},
	{"enter", "open the question; in it: answer"},
	{"n p", "in a question: the next one, the previous one"},
	{"a", "approve, once the action was shown to its end"},
	{"r", "reject, with a comment if you like"},
	{"m", "a comment that goes with the answer"},
	{"c", "ask the agent back; the question stays open"},
	{"e", "answer in $EDITOR; an approval: edit the action, then approve it"},
	{"x", "extend the deadline"},
	{"v", "the exact bytes of the action, and back"},
	{"/", "filter the list; esc takes the filter away"},
	{"R", "read everything again"},
	{"? q", "this help; leave"},
}

// handleKey handles a key for the topmost part of the screen: the input line, the
// help, the form, the question or the list.
func (m *model) handleKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		m.err = session.ErrInterrupted
		return tea.Quit
	case m.inputLine != nil:
		return m.handleInputKey(k)
	case m.help:
		m.handleHelpKey(name)
		return nil
	case m.form != nil:
		return m.handleFormKey(k)
	case name == "?":
		m.help, m.helpTop = true, 0
		return nil
	}
	m.status = ""
	if m.reading {
		return m.handleQuestionKey(name)
	}
	return m.handleListKey(name)
}

func (m *model) handleHelpKey(name string) {
	last := max(len(m.helpLines(m.printer()))-m.visibleRows(), 0)
	switch name {
	case "j", "down", "space", "pgdown":
		m.helpTop = min(m.helpTop+1, last)
	case "k", "up", "pgup":
		m.helpTop = max(m.helpTop-1, 0)
	default:
		m.help = false
	}
}

func (m *model) handleListKey(name string) tea.Cmd {
	list := m.filteredList()
	switch name {
	case "q":
		return tea.Quit
	case "esc":
		m.filter = ""
	case "j", "down":
		m.move(1)
	case "k", "up":
		m.move(-1)
	case "space", "pgdown":
		m.move(m.visibleRows())
	case "b", "pgup":
		m.move(-m.visibleRows())
	case "g", "home":
		m.move(-len(list))
	case "G", "end":
		m.move(len(list))
	case "/":
		return m.prompt("filter", m.filter, func(text string) tea.Cmd {
			m.filter = text
			if list := m.filteredList(); m.indexOfChosen(list) < 0 && len(list) > 0 {
				m.choose(list[0].ID)
			}
			return nil
		})
	case "R":
		return m.refresh()
	case "enter", "o", "right", "l":
		return m.open()
	case "a", "r", "c", "e", "x", "m":
		if m.current() == nil {
			return nil
		}
		return tea.Batch(m.open(), m.handleQuestionKey(name))
	}
	return nil
}

// open shows the chosen question.
func (m *model) open() tea.Cmd {
	if m.current() == nil {
		return nil
	}
	m.reading, m.scroll = true, 0
	m.syncView()
	return m.reread(m.chosenID)
}

func (m *model) handleQuestionKey(name string) tea.Cmd {
	q := m.current()
	if q == nil {
		m.reading = false
		return nil
	}
	switch name {
	case "q", "esc", "left", "h", "u":
		m.reading = false
	case "j", "down":
		m.scroll++
	case "k", "up":
		m.scroll--
	case "space", "pgdown":
		m.scroll += m.visibleLines()
	case "b", "pgup":
		m.scroll -= m.visibleLines()
	case "g", "home":
		m.scroll = 0
	case "G", "end":
		m.scroll = len(m.questionLines(q))
	case "v":
		m.showBytes, m.scroll, m.linesRead = !m.showBytes, 0, 0
	case "n":
		m.move(1)
		return m.open()
	case "p":
		m.move(-1)
		return m.open()
	case "R":
		return tea.Batch(m.reread(q.ID), m.refresh())
	case "enter", "a", "r", "m", "c", "e", "x":
		if q.Status != fermata.Pending {
			m.status = "it is closed; n goes to the next one"
			return nil
		}
		return m.runKeyCommand(q, name)
	}
	return nil
}

// runKeyCommand runs the command of a key for a pending question.
func (m *model) runKeyCommand(q *fermata.Question, name string) tea.Cmd {
	switch name {
	case "m":
		return m.prompt("comment", m.comment, func(text string) tea.Cmd { m.comment = text; return nil })
	case "c":
		return m.prompt("ask back", "", func(text string) tea.Cmd { return m.clarify(q, text) })
	case "x":
		return m.prompt("extend by", "30m", func(text string) tea.Cmd { return m.extend(q, text) })
	}
	if err := q.CheckAssurance(m.me.Caller); err != nil {
		m.status = errorText(err)
		return nil
	}
	if name == "e" {
		return m.openEditor(q)
	}
	if q.Type != fermata.Approval {
		if name != "enter" {
			m.status = "this asks for no approval; enter answers it"
			return nil
		}
		m.form = newInboxForm(q)
		return nil
	}
	switch name {
	case "a":
		return m.approve(q)
	case "r":
		return m.prompt("reject; why? (enter sends, esc does not)", m.comment, func(text string) tea.Cmd {
			m.comment = text
			return m.send(q, map[string]any{q.Items[0].Key: fermata.Reject})
		})
	default:
		m.status = "a approves, r rejects"
		if len(q.Action) > 0 {
			m.status += ", e edits the action first"
		}
		return nil
	}
}

// prompt opens an input line at the bottom of the screen.
func (m *model) prompt(label, text string, done func(string) tea.Cmd) tea.Cmd {
	input := textinput.New()
	input.Prompt = ""
	input.SetValue(text)
	input.CursorEnd()
	m.inputLine = &inboxInputLine{label: label, input: input, done: done}
	return m.inputLine.input.Focus()
}

func (m *model) handleInputKey(k tea.KeyPressMsg) tea.Cmd {
	a := m.inputLine
	switch k.String() {
	case "esc":
		m.inputLine = nil
		return nil
	case "enter":
		m.inputLine = nil
		return a.done(a.input.Value())
	}
	var cmd tea.Cmd
	a.input, cmd = a.input.Update(k)
	return cmd
}

// handlePaste inserts pasted text where the person types text, and ignores it
// elsewhere.
func (m *model) handlePaste(msg tea.PasteMsg) tea.Cmd {
	var cmd tea.Cmd
	switch {
	case m.inputLine != nil:
		m.inputLine.input, cmd = m.inputLine.input.Update(msg)
	case m.form != nil && m.form.typing:
		m.form.input, cmd = m.form.input.Update(msg)
	}
	return cmd
}
