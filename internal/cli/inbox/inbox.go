package inbox

import (
	"cmp"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/answer"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// Command is fermata inbox: it shows the questions that wait on the whole screen.
type Command struct {
	Project string `help:"Only questions of this project."`
}

// Help returns the description and the examples that --help prints.
func (Command) Help() string {
	return `What waits for you, the most urgent first, live. The keys are those of a mail program; ? shows them. In a dumb terminal, or where the input is no terminal, every question is asked on lines instead, as fermata respond --all does.

Examples:

    fermata inbox
    fermata inbox --project shop
    TERM=dumb fermata inbox`
}

// Run runs the command.
func (c *Command) Run(ctx context.Context, s *session.Session) error {
	if s.JSON {
		return fermata.Errorf(fermata.CodeInvalidRequest, "an inbox is for people").WithHint("fermata list --awaiting --json")
	}
	if !s.CanDrawScreen() {
		return (&answer.RespondCommand{}).Walk(ctx, s, c.Project)
	}
	me, err := s.FetchWhoami(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, s, me)
	m.project = c.Project
	return m.run(ctx)
}

// run shows the inbox until the person leaves. While an editor uses the
// terminal, no bubbletea program runs. A program that only lends its terminal
// (tea.ExecProcess) may stop its redraw timer after it restarts, and then shows
// nothing.
func (m *model) run(ctx context.Context) error {
	for {
		if err := m.show(ctx); err != nil || m.editPath == "" {
			return err
		}
		path := m.editPath
		m.editPath = ""
		m.applyEditedFile(path, m.s.RunEditor(ctx, path))
	}
}

// show shows the inbox until the person leaves or edits.
func (m *model) show(ctx context.Context) error {
	err := m.s.RunFullScreen(ctx, m, m.follow)
	return cmp.Or(m.err, err)
}

// follow sends events, and the state of the connection, to the inbox.
func (m *model) follow(ctx context.Context, program *tea.Program) {
	err := m.s.Client.Stream(ctx, client.StreamQuery{
		OnOpen: func() { program.Send(inboxConnection(true)) }, OnReset: func() { program.Send(inboxConnection(true)) },
		OnDrop: func(error) { program.Send(inboxConnection(false)) },
	}, func(e *fermata.Event) error {
		if e.QuestionID != "" {
			program.Send(inboxEvent{e})
		}
		return nil
	})
	program.Send(inboxFailed{err})
}

// Messages of the inbox.
type (
	// inboxConnection reports whether events arrive.
	inboxConnection bool
	inboxEvent      struct{ *fermata.Event }
	inboxFailed     struct{ err error }
	inboxTick       time.Time
	// inboxLoaded is the list as the server has it.
	inboxLoaded struct {
		list []*fermata.Question
		skew time.Duration
		err  error
	}
	// inboxRead is one question that was read again.
	inboxRead struct {
		q   *fermata.Question
		err error
	}
	// inboxResult is the result of a request.
	inboxResult struct {
		q      *fermata.Question
		status string
		err    error
	}
)

// load reads the pending questions and the clock of the server.
func (m *model) load() tea.Cmd {
	m.loading, m.stale = true, false
	return func() tea.Msg {
		me, err := m.s.FetchWhoami(m.ctx)
		if err != nil {
			return inboxLoaded{err: err}
		}
		skew := time.Until(me.ServerTime)
		all, _, err := m.s.Questions(m.ctx, client.QuestionQuery{Status: fermata.Pending, Mine: true, Project: m.project, Sort: fermata.SortInbox}, maxInboxSize)
		var mine []*fermata.Question
		for _, q := range all {
			if me.IsAsked(q) {
				mine = append(mine, q)
			}
		}
		return inboxLoaded{list: mine, skew: skew, err: err}
	}
}

// maxInboxSize is the largest number of questions that the inbox reads.
const maxInboxSize = 1000

// reread reads a question of the list again.
func (m *model) reread(id string) tea.Cmd {
	return func() tea.Msg {
		q, err := m.s.Client.Question(m.ctx, id)
		return inboxRead{q, err}
	}
}

func inboxClock() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return inboxTick(t) })
}
