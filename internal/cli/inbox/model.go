package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// model is the full-screen inbox. It shows a list, or one question.
type model struct {
	ctx     context.Context //nolint:containedctx // the screen lives as long as the command
	s       *session.Session
	me      *session.Whoami
	project string

	width, height int
	// skew is how far the server's clock is ahead of this machine's.
	skew      time.Duration
	connected bool
	// loading reports whether the list is being read. stale reports whether it must be read again.
	loading, stale, loaded bool

	list []*fermata.Question
	// chosenID is the id of the selected question. It stays selected when the list changes. topRow is the first row on
	// the screen.
	chosenID string
	topRow   int
	filter   string

	// reading reports whether the chosen question fills the screen, from line scroll on.
	reading bool
	scroll  int
	// linesRead is how many lines of the question were on the screen, from the first one on and without a gap. seen
	// holds the actions whose lines were all on the screen.
	linesRead int
	seen      map[string]bool
	comment   string
	form      *inboxForm
	inputLine *inboxInputLine
	// editedAction is the action as the person edited it.
	editedAction []byte
	// showBytes reports whether the exact bytes of the action are shown.
	showBytes bool
	// editPath is the file that the person wants to edit.
	editPath string
	help     bool
	helpTop  int
	status   string
	busy     bool
	err      error
}

// inboxInputLine is an input line at the bottom of the screen.
type inboxInputLine struct {
	label string
	input textinput.Model
	done  func(text string) tea.Cmd
}

func newModel(ctx context.Context, s *session.Session, me *session.Whoami) *model {
	return &model{ctx: ctx, s: s, me: me, width: s.Width, height: terminal.DefaultHeight, seen: map[string]bool{}}
}

func (m *model) now() time.Time { return m.s.Now().Add(m.skew) }

func (m *model) Init() tea.Cmd { return tea.Batch(m.load(), inboxClock()) }

// Update handles a message from the terminal, the server or the keyboard.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.syncView()
	return m, cmd
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height, m.linesRead = msg.Width, msg.Height, 0
	case inboxTick:
		return inboxClock()
	case inboxConnection:
		m.connected = bool(msg)
		if m.connected {
			return m.refresh()
		}
	case inboxEvent:
		return m.handleEvent(msg.Event)
	case inboxFailed:
		if m.ctx.Err() == nil {
			m.err = msg.err
		}
		return tea.Quit
	case inboxLoaded:
		return m.handleList(msg)
	case inboxRead:
		m.replace(msg.q)
	case inboxResult:
		return m.handleSent(msg)
	case tea.KeyPressMsg:
		return m.handleKey(msg)
	case tea.PasteMsg:
		return m.handlePaste(msg)
	}
	return nil
}

// refresh reads the list. If a read is under way, it makes that read repeat.
func (m *model) refresh() tea.Cmd {
	if m.loading {
		m.stale = true
		return nil
	}
	return m.load()
}

// handleEvent handles an event of a question.
func (m *model) handleEvent(e *fermata.Event) tea.Cmd {
	if e.QuestionID == m.chosenID {
		return tea.Batch(m.reread(e.QuestionID), m.refresh())
	}
	return m.refresh()
}

// handleList handles the list from the server. The chosen question stays on its line even if it is closed, and
// disappears when the person leaves it.
func (m *model) handleList(msg inboxLoaded) tea.Cmd {
	m.loading = false
	if msg.err != nil {
		m.status = errorText(msg.err)
		return nil
	}
	m.loaded, m.skew = true, msg.skew
	before, old, listIndex := m.indexOfChosen(m.filteredList()), m.current(), m.indexOfChosen(m.list)
	m.list = msg.list
	cmd := m.reloadList()
	if old != nil && m.indexOfChosen(m.list) < 0 {
		m.list = slices.Insert(m.list, min(listIndex, len(m.list)), old)
		if old.Status == fermata.Pending {
			cmd = tea.Batch(cmd, m.reread(old.ID))
		}
	}
	filtered := m.filteredList()
	if m.chosenID == "" && len(filtered) > 0 {
		m.choose(filtered[0].ID)
	}
	if after := m.indexOfChosen(filtered); before >= 0 && after >= 0 {
		m.topRow = max(m.topRow+after-before, 0)
	}
	return cmd
}

// reloadList reads the list again if an event came during the last read.
func (m *model) reloadList() tea.Cmd {
	if m.stale {
		return m.load()
	}
	return nil
}

// replace stores a question that was read again.
func (m *model) replace(q *fermata.Question) {
	if q == nil {
		return
	}
	for i := range m.list {
		if m.list[i].ID == q.ID {
			m.list[i] = q
		}
	}
	if q.ID == m.chosenID && q.Status != fermata.Pending {
		m.form, m.inputLine = nil, nil
	}
}

// filteredList returns the questions that match the filter. An id matches by its ending, as lists show it, because a
// short word could be part of an id by chance.
func (m *model) filteredList() []*fermata.Question {
	if m.filter == "" {
		return m.list
	}
	var list []*fermata.Question
	filter := strings.ToLower(m.filter)
	for _, q := range m.list {
		text := strings.ToLower(strings.Join([]string{q.Title, q.Body, q.Project, string(q.Type), string(q.Risk), q.AskedBy.Name}, "\n"))
		if strings.Contains(text, filter) || len(filter) >= fermata.MinIDSuffix && strings.HasSuffix(q.ID, filter) {
			list = append(list, q)
		}
	}
	return list
}

// indexOfChosen returns the index of the chosen question in the list, or -1.
func (m *model) indexOfChosen(list []*fermata.Question) int {
	return slices.IndexFunc(list, func(q *fermata.Question) bool { return q.ID == m.chosenID })
}

// current returns the chosen question.
func (m *model) current() *fermata.Question {
	for _, q := range m.list {
		if q.ID == m.chosenID {
			return q
		}
	}
	return nil
}

// move selects the question n places further. A closed question disappears when the person leaves it.
func (m *model) move(n int) {
	list := m.filteredList()
	if len(list) == 0 {
		return
	}
	previous := m.current()
	i := min(max(m.indexOfChosen(list)+n, 0), len(list)-1)
	m.choose(list[i].ID)
	if previous == nil || previous.Status == fermata.Pending {
		return
	}
	m.list = slices.DeleteFunc(slices.Clone(m.list), func(q *fermata.Question) bool { return q.ID == previous.ID })
	if previous.ID == m.chosenID {
		m.choose("")
		if list := m.filteredList(); len(list) > 0 {
			m.choose(list[len(list)-1].ID)
		}
	}
}

// choose selects a question and shows it from its beginning.
func (m *model) choose(id string) {
	m.chosenID, m.scroll, m.linesRead, m.comment, m.form, m.inputLine, m.editedAction, m.showBytes = id, 0, 0, "", nil, nil, nil, false
}

// syncView keeps the scroll positions within the screen, keeps a question of the list selected, and records the actions
// whose end was shown.
func (m *model) syncView() {
	list := m.filteredList()
	if !m.reading && m.inputLine == nil && m.indexOfChosen(list) < 0 && len(list) > 0 {
		m.choose(list[0].ID)
	}
	i, rows := max(m.indexOfChosen(list), 0), m.visibleRows()
	m.topRow = min(max(m.topRow, i-rows+1, 0), i, max(len(list)-rows, 0))
	q := m.current()
	if !m.reading || q == nil {
		return
	}
	lines := len(m.questionLines(q))
	m.scroll = min(max(m.scroll, 0), max(lines-m.visibleLines(), 0))
	if m.scroll <= m.linesRead {
		m.linesRead = max(m.linesRead, m.scroll+m.visibleLines())
	}
	if m.linesRead >= lines {
		m.seen[m.actionKey(q)] = true
	}
}

// actionKey returns the key of the text that an approving person has read: the action, or the edited action.
func (m *model) actionKey(q *fermata.Question) string {
	if m.editedAction != nil {
		return q.ID + fermata.HashAction(m.editedAction)
	}
	return q.ID + q.ActionHash
}

// errorText returns an error and its hint on one line.
func errorText(err error) string {
	text := terminal.OneLine(err.Error())
	if e, ok := session.AsError(err); ok && e.Hint != "" {
		text += " – " + terminal.OneLine(e.Hint)
	}
	return text
}
