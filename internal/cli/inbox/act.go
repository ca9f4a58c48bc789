package inbox

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/answer"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// approve approves an action after its end was on the screen. If the risk is
// high or critical, the person must type the word "approve".
func (m *model) approve(q *fermata.Question) tea.Cmd {
	if err := answer.CheckActionHash(q, ""); err != nil {
		m.status = errorText(err)
		return nil
	}
	if !m.seen[m.actionKey(q)] {
		m.status = "read all of the action first: space goes on"
		return nil
	}
	label := "approve what is shown? y or n"
	if m.editedAction != nil {
		label = "approve the EDITED action, and only that? y or n"
	}
	word := "y"
	if q.Risk == fermata.RiskHigh || q.Risk == fermata.RiskCritical {
		word = fermata.Approve
		label = strings.Replace(label, "y or n", "risk "+string(q.Risk)+": type the word approve", 1)
	}
	return m.prompt(label, "", func(text string) tea.Cmd {
		if strings.TrimSpace(strings.ToLower(text)) != word {
			m.status = "nothing was sent"
			return nil
		}
		return m.send(q, map[string]any{q.Items[0].Key: fermata.Approve})
	})
}

// send sends an answer.
func (m *model) send(q *fermata.Question, values map[string]any) tea.Cmd {
	if m.busy {
		return nil
	}
	m.busy = true
	a := answer.New(q, values)
	a.Comment = m.comment
	if m.editedAction != nil && values[q.Items[0].Key] == fermata.Approve {
		a.Action = m.editedAction
	}
	votes := len(q.Votes)
	return func() tea.Msg {
		closed, err := m.s.Client.Answer(m.ctx, q.ID, a)
		if err != nil {
			return inboxResult{q: q, err: err}
		}
		return inboxResult{q: closed, status: answer.ResultText(closed, votes)}
	}
}

func (m *model) clarify(q *fermata.Question, text string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return func() tea.Msg {
		q, err := m.s.Client.Clarify(m.ctx, q.ID, text)
		return inboxResult{q, "asked back; the question stays open", err}
	}
}

func (m *model) extend(q *fermata.Question, text string) tea.Cmd {
	return func() tea.Msg {
		q, err := m.s.Client.Extend(m.ctx, q.ID, fermata.Timeout(strings.TrimSpace(text)))
		return inboxResult{q, "the deadline was put off", err}
	}
}

// handleSent handles the result of a request. After an answer it shows the next
// question. If another person answered first, it shows the name of that person.
func (m *model) handleSent(msg inboxResult) tea.Cmd {
	m.busy = false
	if msg.err != nil {
		m.status = errorText(msg.err)
		if msg.q == nil {
			return nil
		}
		return tea.Batch(m.reread(msg.q.ID), m.refresh())
	}
	m.status = msg.status
	m.replace(msg.q)
	if msg.q.ID == m.chosenID && (msg.q.Status != fermata.Pending || !m.me.IsAsked(msg.q)) {
		m.chooseNext(msg.q)
	}
	return m.refresh()
}

// chooseNext leaves a closed question and selects the next one.
func (m *model) chooseNext(closed *fermata.Question) {
	list := m.filteredList()
	i := m.indexOfChosen(list)
	m.choose("")
	m.reading = false
	switch {
	case i >= 0 && i+1 < len(list):
		m.choose(list[i+1].ID)
	case i > 0:
		m.choose(list[i-1].ID)
	}
	kept := make([]*fermata.Question, 0, len(m.list))
	for _, q := range m.list {
		if q.ID != closed.ID {
			kept = append(kept, q)
		}
	}
	m.list = kept
}

// openEditor opens the action of an approval, or a file for the answer.
func (m *model) openEditor(q *fermata.Question) tea.Cmd {
	if m.busy {
		return nil
	}
	text, pattern := answer.EditorText(m.s, q), "fermata-*.md"
	if q.Type == fermata.Approval {
		if len(q.Action) == 0 {
			m.status = "this approval has no action to edit"
			return nil
		}
		text, pattern = render.IndentJSON(q.Action)+"\n", "fermata-*.json"
	}
	path, err := terminal.TempFile(pattern, text)
	if err != nil {
		m.status = errorText(err)
		return nil
	}
	m.editPath = path
	return tea.Quit
}

// applyEditedFile reads the edited file. An edited action must be shown completely
// before the person can approve it. Edited answers are sent from the form.
func (m *model) applyEditedFile(path string, editorErr error) {
	q := m.current()
	data, err := os.ReadFile(path)
	switch {
	case q == nil:
		return
	case err == nil && !utf8.Valid(data):
		m.status = "the text is not valid UTF-8; it is kept in " + terminal.OneLine(path)
		return
	case editorErr != nil || err != nil:
		m.status = "the editor ended with an error; your text is kept in " + terminal.OneLine(path)
		return
	case q.Type == fermata.Approval:
		m.applyEditedAction(q, data, path)
		return
	}
	texts := answer.ParseEditedText(q, string(data))
	if len(texts) == 0 {
		m.status = "the answer is empty, nothing was sent"
		return
	}
	values, err := answer.ParseTexts(q, texts)
	if err != nil {
		m.status = errorText(err) + "; your text is kept in " + terminal.OneLine(path)
		return
	}
	_ = os.Remove(path)
	m.form = newInboxForm(q)
	m.form.startReview(values)
}

// actionDiff returns the changed lines of an action as a diff.
func actionDiff(asked, edited []byte) string {
	text := string(diff.Diff("asked", []byte(render.IndentJSON(asked)+"\n"), "edited", []byte(render.IndentJSON(edited)+"\n")))
	if _, hunks, ok := strings.Cut(text, "\n+++ edited\n"); ok {
		return hunks
	}
	return text
}

func (m *model) applyEditedAction(q *fermata.Question, data []byte, path string) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, bytes.TrimSpace(data)); err != nil {
		m.status = "the edited action is no JSON; it is kept in " + terminal.OneLine(path)
		return
	}
	_ = os.Remove(path)
	if fermata.HasHash(compact.Bytes(), q.ActionHash) {
		m.editedAction, m.linesRead, m.status = nil, 0, "the action is unchanged"
		return
	}
	m.editedAction = fermata.CanonicalAction(compact.Bytes())
	m.linesRead, m.scroll = 0, 0
	m.status = "read what you changed; a approves the edited action, r rejects"
}
