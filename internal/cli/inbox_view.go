package cli

import (
	"bytes"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// View draws the screen.
func (m *inbox) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	return v
}

func (m *inbox) printer() printer {
	return printer{color: m.s.color, width: max(m.width, 20), term: true}
}

// screen returns the lines of the whole screen.
func (m *inbox) screen() []string {
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
		lines[i] = ansi.Truncate(lines[i], p.width, "…")
	}
	return lines[:min(len(lines), max(m.height, 1))]
}

// header returns the first line: the list or the position in it, the person and the filter.
func (m *inbox) header(p printer) string {
	text := fmt.Sprintf("fermata inbox · %d waiting", len(m.list))
	if m.reading {
		list := m.filteredList()
		text = fmt.Sprintf("fermata inbox · %d of %d", m.indexOfChosen(list)+1, len(list))
	}
	if m.me.Name != "" {
		text += " · " + oneLine(m.me.Name)
	}
	if m.filter != "" {
		text += " · filter: " + oneLine(m.filter)
	}
	if !m.reading && m.topRow > 0 {
		text += fmt.Sprintf(" · %d above", m.topRow)
	}
	if m.loaded && !m.connected {
		text += " · connecting…"
	}
	return p.bold(text)
}

// visibleRows returns how many questions fit on the screen.
func (m *inbox) visibleRows() int { return max(m.height-1-len(m.bottomLines(m.printer())), 1) }

// visibleLines returns how many lines of a question fit on the screen.
func (m *inbox) visibleLines() int {
	if m.current() == nil {
		return m.visibleRows()
	}
	return max(m.visibleRows()-len(m.questionFoot(m.printer(), 0)), 1)
}

func (m *inbox) listLines(p printer) []string {
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
func (m *inbox) row(p printer, q *fermata.Question) string {
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
		timeLeft = formatDuration(q.Deadline.Sub(m.now()))
	case q.Deadline != nil:
		timeLeft = "now"
	}
	head := fmt.Sprintf("%s%s %-8s %-8s ", mark, kind, timeLeft, q.Risk)
	tail := ""
	isWide := p.width >= 70
	if isWide {
		tail = "  " + ansi.Truncate(oneLine(q.Project), 14, "…")
	}
	room := max(p.width-ansi.StringWidth(head)-ansi.StringWidth(tail), 10)
	title := ansi.Truncate(oneLine(q.Title), room, "…")
	if isWide {
		title = titleWithFacts(q, room)
	}
	line := head + title + strings.Repeat(" ", max(room-ansi.StringWidth(title), 0)) + tail
	switch {
	case q.ID == m.chosenID:
		return p.paint("7", line)
	case q.Resolution != nil:
		return p.dim(line)
	case q.Risk == fermata.RiskCritical || q.Risk == fermata.RiskHigh:
		return p.yellow(line)
	default:
		return line
	}
}

// titleWithFacts returns the title of a question, its number of items, its votes and its task on one line. A long
// title is cut to leave room for the items and the votes. The task gets the rest of the line.
func titleWithFacts(q *fermata.Question, room int) string {
	facts := ""
	for _, fact := range factsWithoutRisk(q) {
		facts += " · " + fact
	}
	line := ansi.Truncate(oneLine(q.Title), max(room-ansi.StringWidth(facts), 10), "…") + facts
	spaceLeft := room - ansi.StringWidth(line) - ansi.StringWidth(" · ")
	if task := notice.TaskTitle(q); task != "" && spaceLeft > 0 {
		line += " · " + ansi.Truncate(task, spaceLeft, "…")
	}
	return ansi.Truncate(line, room, "…")
}

// questionLines returns the whole question, with the person's changes to its action.
func (m *inbox) questionLines(q *fermata.Question) []string {
	var buf bytes.Buffer
	p := m.printer()
	p.w, p.exactBytes = &buf, m.showBytes
	if m.editedAction != nil {
		p.line("%s", p.bold("What you changed"))
		p.printBarred(visibleExact(actionDiff(q.Action, m.editedAction)))
		p.printAction("As you edited it; only this will run", m.editedAction, fermata.HashAction(m.editedAction))
		p.line("\n%s\n", p.bold("What was asked"))
	}
	p.printQuestion(q, m.now())
	return strings.Split(strings.TrimRight(buf.String(), "\n"), "\n")
}

// questionFoot returns the lines below a question: how much is left to read, the comment and the form.
func (m *inbox) questionFoot(p printer, lines int) []string {
	rule := strings.Repeat("─", p.width)
	if lines > 0 {
		room := m.visibleLines()
		if below := lines - m.scroll - room; below > 0 {
			rule = "── " + countText(below, "line") + " more below: space "
		} else if m.scroll > 0 {
			rule = "── the end "
		}
		rule += strings.Repeat("─", max(p.width-ansi.StringWidth(rule), 0))
	}
	foot := []string{p.dim(rule)}
	if m.comment != "" {
		foot = append(foot, ansi.Truncate("comment: "+oneLine(m.comment), p.width, "…"))
	}
	if m.form != nil {
		foot = append(foot, m.form.lines(p, max(m.height/2, 6))...)
	}
	return foot
}

// bottomLines returns the last line: an input line, a message or the keys. A message may need several lines.
func (m *inbox) bottomLines(p printer) []string {
	line := m.bottomLine(p)
	if m.inputLine == nil && m.status == "" && !m.help && !m.reading && !m.busy && m.current() != nil {
		return []string{p.dim(ansi.Truncate(m.s.questionSubline(m.current()), p.width, "…")), line}
	}
	if m.inputLine != nil || m.status == "" {
		return []string{line}
	}
	lines := strings.Split(ansi.Wrap(line, p.width, ""), "\n")
	return lines[:min(len(lines), max(m.height/2, 1))]
}

func (m *inbox) bottomLine(p printer) string {
	q := m.current()
	switch {
	case m.inputLine != nil:
		label := oneLine(m.inputLine.label) + ": "
		m.inputLine.input.SetWidth(max(p.width-ansi.StringWidth(label)-1, 8))
		return p.bold(label) + m.inputLine.input.View()
	case m.busy:
		return "sending …"
	case m.status != "":
		return p.yellow(m.status)
	case m.help:
		return p.dim("j k move, any other key goes back")
	case !m.reading || q == nil:
		return p.dim("enter open  j/k move  / filter  ? help  q quit")
	case q.Status != fermata.Pending:
		return p.dim("closed  n next  q back")
	default:
		return p.dim(m.questionKeys(q))
	}
}

// questionKeys returns the keys that act on a pending question in its present state.
func (m *inbox) questionKeys(q *fermata.Question) string {
	var keys []string
	switch {
	case m.form != nil:
		return "your answer is taken above"
	case q.Type != fermata.Approval:
		keys = []string{"enter answer", "c clarify", "e editor"}
	case len(q.Action) == 0:
		keys = []string{"a approve", "r reject", "c clarify"}
	default:
		keys = []string{"a approve", "r reject", "e edit", "c clarify"}
	}
	return strings.Join(append(keys, "x extend", "m comment", "q back"), "  ")
}

func (m *inbox) helpLines(p printer) []string {
	lines := []string{""}
	for _, k := range inboxKeyHelp {
		for i, part := range strings.Split(ansi.Wrap(k[1], max(p.width-12, 16), ""), "\n") {
			if i > 0 {
				k[0] = ""
			}
			lines = append(lines, fmt.Sprintf("  %-9s %s", k[0], part))
		}
	}
	return append(lines, "", "  In a form: j k or 1–9 choose,", "  space picks several, enter takes it.")
}
