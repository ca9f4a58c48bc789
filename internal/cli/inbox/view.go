package inbox

import (
	"bytes"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	return v
}

func (m *model) printer() terminal.Printer {
	return terminal.Printer{Color: m.s.Color, Width: max(m.width, 20), IsTerm: true}
}

// screen returns the lines of the whole screen.
func (m *model) screen() []string {
	p := m.printer()
	lines := []string{m.header(p)}
	var body, foot []string
	q := m.current()
	switch {
	case m.help:
		body = m.helpLines(p)
		body = body[min(m.helpTop, max(len(body)-m.visibleRows(), 0)):]
	case m.reading && q != nil:
		all := m.questionLines(q)
		body = all[min(m.scroll, len(all)):]
		foot = m.questionFoot(p, len(all))
	default:
		body = m.listLines(p)
	}
	foot = append(foot, m.bottomLines(p)...)
	room := max(m.height-len(lines)-len(foot), 0)
	body = body[:min(len(body), room)]
	for len(body) < room {
		body = append(body, "")
	}
	lines = append(append(lines, body...), foot...)
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], p.Width, "…")
	}
	return lines[:min(len(lines), max(m.height, 1))]
}

// header returns the first line: the list or the position in it, the person and the filter.
func (m *model) header(p terminal.Printer) string {
	text := fmt.Sprintf("fermata inbox · %d waiting", len(m.list))
	if m.reading {
		list := m.filteredList()
		text = fmt.Sprintf("fermata inbox · %d of %d", m.indexOfChosen(list)+1, len(list))
	}
	if m.me.Name != "" {
		text += " · " + terminal.OneLine(m.me.Name)
	}
	if m.filter != "" {
		text += " · filter: " + terminal.OneLine(m.filter)
	}
	if !m.reading && m.topRow > 0 {
		text += fmt.Sprintf(" · %d above", m.topRow)
	}
	if m.loaded && !m.connected {
		text += " · connecting…"
	}
	return p.Bold(text)
}

// visibleRows returns how many questions fit on the screen.
func (m *model) visibleRows() int { return max(m.height-1-len(m.bottomLines(m.printer())), 1) }

// visibleLines returns how many lines of a question fit on the screen.
func (m *model) visibleLines() int {
	if m.current() == nil {
		return m.visibleRows()
	}
	return max(m.visibleRows()-len(m.questionFoot(m.printer(), 0)), 1)
}

func (m *model) listLines(p terminal.Printer) []string {
	list := m.filteredList()
	switch {
	case !m.loaded:
		return []string{"", "  reading …"}
	case len(list) == 0 && m.filter != "":
		return []string{"", "  nothing fits the filter; esc takes it away"}
	case len(list) == 0:
		return []string{"", "  Nothing waits for you.", "", "  Questions that you may answer appear here by themselves.", `  To see one: fermata ask "Which name?" -o one -o two`}
	}
	top := min(m.topRow, len(list)-1)
	var lines []string
	for i := top; i < min(top+m.visibleRows(), len(list)); i++ {
		lines = append(lines, m.row(p, list[i]))
	}
	return lines
}

// row returns a question on one line: its type, the time left, and its title with facts.
func (m *model) row(p terminal.Printer, q *fermata.Question) string {
	mark, kind := "  ", "?"
	if q.Type == fermata.Approval {
		kind = "!"
	}
	if q.ID == m.chosenID {
		mark = "> "
	}
	timeLeft := "no end"
	switch {
	case q.Resolution != nil:
		timeLeft = string(q.Status)
	case q.Deadline != nil && q.Deadline.After(m.now()):
		timeLeft = terminal.FormatDuration(q.Deadline.Sub(m.now()))
	case q.Deadline != nil:
		timeLeft = "now"
	}
	head := fmt.Sprintf("%s%s %-8s %-8s ", mark, kind, timeLeft, q.Risk)
	tail := ""
	isWide := p.Width >= 70
	if isWide {
		tail = "  " + ansi.Truncate(terminal.OneLine(q.Project), 14, "…")
	}
	room := max(p.Width-ansi.StringWidth(head)-ansi.StringWidth(tail), 10)
	title := ansi.Truncate(terminal.OneLine(q.Title), room, "…")
	if isWide {
		title = titleWithFacts(q, room)
	}
	line := head + title + strings.Repeat(" ", max(room-ansi.StringWidth(title), 0)) + tail
	switch {
	case q.ID == m.chosenID:
		return p.Paint("7", line)
	case q.Resolution != nil:
		return p.Dim(line)
	case q.Risk == fermata.RiskCritical || q.Risk == fermata.RiskHigh:
		return p.Yellow(line)
	default:
		return line
	}
}

// titleWithFacts returns the title of a question, its number of items, its votes and its task on one line. A long
// title is cut to leave room for the items and the votes. The task gets the rest of the line.
func titleWithFacts(q *fermata.Question, room int) string {
	facts := ""
	for _, fact := range render.FactsWithoutRisk(q) {
		facts += " · " + fact
	}
	line := ansi.Truncate(terminal.OneLine(q.Title), max(room-ansi.StringWidth(facts), 10), "…") + facts
	spaceLeft := room - ansi.StringWidth(line) - ansi.StringWidth(" · ")
	if task := notice.TaskTitle(q); task != "" && spaceLeft > 0 {
		line += " · " + ansi.Truncate(task, spaceLeft, "…")
	}
	return ansi.Truncate(line, room, "…")
}

// questionLines returns the whole question, with the person's changes to its action.
func (m *model) questionLines(q *fermata.Question) []string {
	var buf bytes.Buffer
	p := m.printer()
	p.Out, p.ExactBytes = &buf, m.showBytes
	if m.editedAction != nil {
		p.Line("%s", p.Bold("What you changed"))
		p.PrintBarred(terminal.CleanStrictly(actionDiff(q.Action, m.editedAction)))
		render.PrintAction(p, "As you edited it; only this will run", m.editedAction, fermata.HashAction(m.editedAction))
		p.Line("\n%s\n", p.Bold("What was asked"))
	}
	render.PrintQuestion(p, q, m.now())
	return strings.Split(strings.TrimRight(buf.String(), "\n"), "\n")
}

// questionFoot returns the lines below a question: how much is left to read, the comment and the form.
func (m *model) questionFoot(p terminal.Printer, lines int) []string {
	rule := strings.Repeat("─", p.Width)
	if lines > 0 {
		room := m.visibleLines()
		if below := lines - m.scroll - room; below > 0 {
			rule = "── " + terminal.CountText(below, "line") + " more below: space "
		} else if m.scroll > 0 {
			rule = "── the end "
		}
		rule += strings.Repeat("─", max(p.Width-ansi.StringWidth(rule), 0))
	}
	foot := []string{p.Dim(rule)}
	if m.comment != "" {
		foot = append(foot, ansi.Truncate("comment: "+terminal.OneLine(m.comment), p.Width, "…"))
	}
	if m.form != nil {
		foot = append(foot, m.form.lines(p, max(m.height/2, 6))...)
	}
	return foot
}

// bottomLines returns the last line: an input line, a message or the keys. A message may need several lines.
func (m *model) bottomLines(p terminal.Printer) []string {
	line := m.bottomLine(p)
	if m.inputLine == nil && m.status == "" && !m.help && !m.reading && !m.busy && m.current() != nil {
		return []string{p.Dim(ansi.Truncate(render.QuestionSubline(&m.s.Console, m.current()), p.Width, "…")), line}
	}
	if m.inputLine != nil || m.status == "" {
		return []string{line}
	}
	lines := strings.Split(ansi.Wrap(line, p.Width, ""), "\n")
	return lines[:min(len(lines), max(m.height/2, 1))]
}

func (m *model) bottomLine(p terminal.Printer) string {
	q := m.current()
	switch {
	case m.inputLine != nil:
		label := terminal.OneLine(m.inputLine.label) + ": "
		m.inputLine.input.SetWidth(max(p.Width-ansi.StringWidth(label)-1, 8))
		return p.Bold(label) + m.inputLine.input.View()
	case m.busy:
		return "sending …"
	case m.status != "":
		return p.Yellow(m.status)
	case m.help:
		return p.Dim("j k move, any other key goes back")
	case !m.reading || q == nil:
		return p.Dim("enter open  j/k move  / filter  ? help  q quit")
	case q.Status != fermata.Pending:
		return p.Dim("closed  n next  q back")
	default:
		return p.Dim(m.questionKeys(q))
	}
}

// questionKeys returns the keys that act on a pending question in its present state.
func (m *model) questionKeys(q *fermata.Question) string {
	var keys []string
	switch {
	case m.form != nil:
		return "type your answer above"
	case q.Type != fermata.Approval:
		keys = []string{"enter answer", "c clarify", "e editor"}
	case len(q.Action) == 0:
		keys = []string{"a approve", "r reject", "c clarify"}
	default:
		keys = []string{"a approve", "r reject", "e edit", "c clarify"}
	}
	return strings.Join(append(keys, "x extend", "m comment", "q back"), "  ")
}

func (m *model) helpLines(p terminal.Printer) []string {
	lines := []string{""}
	for _, k := range inboxKeyHelp {
		for i, part := range strings.Split(ansi.Wrap(k[1], max(p.Width-12, 16), ""), "\n") {
			if i > 0 {
				k[0] = ""
			}
			lines = append(lines, fmt.Sprintf("  %-9s %s", k[0], part))
		}
	}
	return append(lines, "", "  In a form: j k or 1–9 choose,", "  space picks several, enter takes it.")
}
