package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type treeCommand struct {
	ID    string `arg:"" help:"The task at the top, or a question of it."`
	Watch bool   `short:"w" help:"Go on: redraw it as it changes, or print the changes where the output is no terminal."`
	Plain bool   `help:"Plain letters instead of symbols and lines."`
}

func (treeCommand) Help() string {
	return `Each task has a symbol, its state in words, what it waits for, and the question it asks: of whom, and until when. --plain, TERM=dumb and a locale without UTF-8 leave the symbols out; NO_COLOR leaves the colours out.

With --watch and --json the whole tree is printed on one line whenever it changed.

Examples:

    fermata tree 3f9k2a
    fermata tree 3f9k2a --watch`
}

func (c *treeCommand) Run(ctx context.Context, s *session.Session) error {
	top, err := s.FindTask(ctx, c.ID)
	if err != nil {
		return err
	}
	v := drawing.NewTree(s, top.ID, c.Plain)
	if c.Watch {
		return drawing.Watch(ctx, s, v)
	}
	if err := v.Read(ctx); err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(v.Document())
	}
	for _, line := range drawing.Lines(s, v) {
		s.Stdout().Line("%s", line)
	}
	return nil
}
