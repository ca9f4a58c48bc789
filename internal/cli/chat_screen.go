package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// screen shows the thread above an input line. New text appears above the line,
// and never within the typed text.
func (c *chat) screen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	input := textinput.New()
	input.Prompt = "> "
	input.Placeholder = "a message, /answer, /clarify, /quit"
	m := &chatScreen{chat: c, ctx: ctx, input: input, width: c.s.width}
	stdin, back := c.s.lend()
	defer back()
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(stdin), tea.WithOutput(c.s.out), tea.WithoutSignalHandler())
	go func() {
		err := c.s.client.Stream(ctx, client.StreamQuery{
			TaskID: c.task.ID, FromStart: true,
			OnDrop: func(error) { program.Send(chatLine(brokeText)) },
		}, func(e *fermata.Event) error {
			x, err := c.thread.entry(ctx, e)
			if err != nil || x == nil {
				return err
			}
			program.Send(x)
			return nil
		})
		program.Send(chatEnded{err})
	}()
	_, err := program.Run()
	switch {
	case m.err != nil:
		return m.err
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fermata.Internal("show the thread", err)
	}
	return nil
}

type (
	// chatLine is text to show above the input.
	chatLine string
	// chatEnded reports that the stream ended.
	chatEnded struct{ err error }
	// chatPrinted reports that the last printed text is on the screen.
	chatPrinted struct{}
	// chatSaid is the result of a typed line.
	chatSaid struct {
		text string
		err  error
		// held sends an answer that waits for a yes.
		held func(context.Context) error
	}
)

// chatScreen is the input line below the thread.
type chatScreen struct {
	chat  *chat
	ctx   context.Context //nolint:containedctx // the screen lives as long as the command
	input textinput.Model
	width int
	busy  bool
	err   error
	// waiting is the text to print next, while other text is being printed.
	waiting  []string
	printing bool
	// ended reports that nothing follows the waiting text.
	ended bool
}

func (m *chatScreen) printer() printer {
	return printer{color: m.chat.s.color, width: max(m.width, 30), term: true}
}

func (m *chatScreen) Init() tea.Cmd { return m.input.Focus() }

func (m *chatScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = msg.Width
		m.input.SetWidth(max(msg.Width-3, 10))
		return m, nil
	case chatLine:
		return m, m.print(string(msg))
	case *entry:
		return m, m.print(strings.TrimRight(m.chat.thread.text(msg, m.printer()), "\n"))
	case chatPrinted:
		m.printing = false
		return m, m.print("")
	case chatEnded:
		m.err, m.ended = msg.err, true
		return m, m.print("")
	case chatSaid:
		m.busy, m.chat.held = false, msg.held
		if errors.Is(msg.err, errQuit) {
			return m, tea.Quit
		}
		return m, m.print(msg.text)
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			m.err = ErrInterrupted
			return m, tea.Quit
		case "ctrl+d":
			return m, tea.Quit
		case "enter":
			return m, m.say()
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// print shows text above the input, after all earlier text. The commands of
// bubbletea run concurrently, so print starts only one at a time.
func (m *chatScreen) print(text string) tea.Cmd {
	if text != "" {
		m.waiting = append(m.waiting, text)
	}
	switch {
	case m.printing:
		return nil
	case len(m.waiting) == 0 && m.ended:
		return tea.Quit
	case len(m.waiting) == 0:
		return nil
	}
	all := strings.Join(m.waiting, "\n")
	m.waiting, m.printing = nil, true
	return tea.Sequence(tea.Println(all), func() tea.Msg { return chatPrinted{} })
}

// say sends the typed line without blocking the drawing.
func (m *chatScreen) say() tea.Cmd {
	line := m.input.Value()
	if m.busy || strings.TrimSpace(line) == "" {
		return nil
	}
	m.input.Reset()
	m.busy = true
	// Output for standard error goes above the input.
	c, quiet, buf := *m.chat, *m.chat.s, &bytes.Buffer{}
	quiet.err, quiet.errTerm, quiet.width = buf, true, m.printer().width
	c.s = &quiet
	return func() tea.Msg {
		err := c.say(m.ctx, line)
		if err != nil && !errors.Is(err, errQuit) {
			quiet.complain(err)
		}
		return chatSaid{strings.TrimRight(buf.String(), "\n"), err, c.held}
	}
}

func (m *chatScreen) View() tea.View { return tea.NewView(m.input.View()) }
