package chat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// runFullScreen shows the thread above an input line. New text appears above the line,
// and never within the typed text.
func (c *conversation) runFullScreen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	input := textinput.New()
	input.Prompt = "> "
	input.Placeholder = "a message, /answer, /clarify, /quit"
	m := &screen{chat: c, ctx: ctx, input: input, width: c.s.Width}
	err := c.s.RunFullScreen(ctx, m, c.follow)
	return cmp.Or(m.err, err)
}

// follow sends the entries of the thread to the screen.
func (c *conversation) follow(ctx context.Context, program *tea.Program) {
	err := c.s.Client.Stream(ctx, client.StreamQuery{
		TaskID: c.task.ID, FromStart: true,
		OnDrop: func(error) { program.Send(lineShown(session.ConnectionLostText)) },
	}, func(e *fermata.Event) error {
		x, err := c.thread.loadEntry(ctx, e)
		if err != nil || x == nil {
			return err
		}
		program.Send(x)
		return nil
	})
	program.Send(streamEnded{err})
}

type (
	// lineShown is text to show above the input.
	lineShown string
	// streamEnded reports that the stream ended.
	streamEnded struct{ err error }
	// textPrinted reports that the last printed text is on the screen.
	textPrinted struct{}
	// lineResult is the result of a typed line.
	lineResult struct {
		text string
		err  error
		// pendingSend sends an answer that waits for a yes.
		pendingSend func(context.Context) error
	}
)

// screen is the input line below the thread.
type screen struct {
	chat  *conversation
	ctx   context.Context //nolint:containedctx // the screen lives as long as the command
	input textinput.Model
	width int
	busy  bool
	err   error
	// pendingLines is the text to print next, while other text is being printed.
	pendingLines []string
	printing     bool
	// ended reports that no text follows pendingLines.
	ended bool
}

func (m *screen) printer() terminal.Printer {
	return terminal.Printer{Color: m.chat.s.Color, Width: max(m.width, 30), IsTerm: true}
}

func (m *screen) Init() tea.Cmd { return m.input.Focus() }

func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = msg.Width
		m.input.SetWidth(max(msg.Width-3, 10))
		return m, nil
	case lineShown:
		return m, m.print(string(msg))
	case *entry:
		return m, m.print(strings.TrimRight(m.chat.thread.entryText(msg, m.printer()), "\n"))
	case textPrinted:
		m.printing = false
		return m, m.print("")
	case streamEnded:
		m.err, m.ended = msg.err, true
		return m, m.print("")
	case lineResult:
		m.busy, m.chat.pendingSend = false, msg.pendingSend
		if errors.Is(msg.err, session.ErrQuit) {
			return m, tea.Quit
		}
		return m, m.print(msg.text)
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			m.err = session.ErrInterrupted
			return m, tea.Quit
		case "ctrl+d":
			return m, tea.Quit
		case "enter":
			return m, m.submitLine()
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// print shows text above the input, after all earlier text. The commands of
// bubbletea run concurrently, so print starts only one at a time.
func (m *screen) print(text string) tea.Cmd {
	if text != "" {
		m.pendingLines = append(m.pendingLines, text)
	}
	switch {
	case m.printing:
		return nil
	case len(m.pendingLines) == 0 && m.ended:
		return tea.Quit
	case len(m.pendingLines) == 0:
		return nil
	}
	all := strings.Join(m.pendingLines, "\n")
	m.pendingLines, m.printing = nil, true
	return tea.Sequence(tea.Println(all), func() tea.Msg { return textPrinted{} })
}

// submitLine sends the typed line without blocking the drawing.
func (m *screen) submitLine() tea.Cmd {
	line := m.input.Value()
	if m.busy || strings.TrimSpace(line) == "" {
		return nil
	}
	m.input.Reset()
	m.busy = true
	// Output for standard error goes above the input.
	c, captured, buf := *m.chat, *m.chat.s, &bytes.Buffer{}
	captured.Err, captured.ErrTerm, captured.Width = buf, true, m.printer().Width
	c.s = &captured
	return func() tea.Msg {
		err := c.handleLine(m.ctx, line)
		if err != nil && !errors.Is(err, session.ErrQuit) {
			captured.PrintError(err)
		}
		return lineResult{strings.TrimRight(buf.String(), "\n"), err, c.pendingSend}
	}
}

func (m *screen) View() tea.View { return tea.NewView(m.input.View()) }
