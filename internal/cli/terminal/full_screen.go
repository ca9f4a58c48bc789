package terminal

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
)

// RunFullScreen runs a program that draws the whole screen, until it quits or ctx ends. It then returns the cause of ctx, if
// that ended. follow runs beside the program and may send it messages; its context ends with the program.
func (c *Console) RunFullScreen(ctx context.Context, m tea.Model, follow func(ctx context.Context, program *tea.Program)) error {
	followCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	input, release := c.LendInput()
	defer release()
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(input), tea.WithOutput(c.Out), tea.WithoutSignalHandler())
	go follow(followCtx, program)
	_, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fermata.Internal("draw the screen", err)
	}
	return nil
}
