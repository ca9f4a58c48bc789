package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
)

type treeCommand struct {
	ID string `arg:"" help:"The task at the top."`
}

func (treeCommand) Help() string {
	return `Examples:

    fermata tree 3f9k2a`
}

func (c *treeCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	list, err := server.Tree(ctx, c.ID)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.json(list)
	}
	for _, line := range s.treeLines(list) {
		s.data().line("%s", line)
	}
	return nil
}

// treeLines draws the tasks below their parents. The first one is the top.
func (s *session) treeLines(list []*fermata.Task) []string {
	below := map[string][]*fermata.Task{}
	for _, t := range list {
		below[t.ParentID] = append(below[t.ParentID], t)
	}
	var lines []string
	var draw func(t *fermata.Task, first, rest string)
	draw = func(t *fermata.Task, first, rest string) {
		lines = append(lines, s.treeLine(t, first))
		if q := t.PendingQuestion; q != nil {
			lines = append(lines, s.fit(fmt.Sprintf("%s   ? %s  %s", rest, s.id(q.ID), oneLine(q.Title))))
		}
		children := below[t.ID]
		for i, child := range children {
			if i == len(children)-1 {
				draw(child, rest+"└─ ", rest+"   ")
			} else {
				draw(child, rest+"├─ ", rest+"│  ")
			}
		}
	}
	if len(list) > 0 {
		draw(list[0], "", "")
	}
	return lines
}

func (s *session) treeLine(t *fermata.Task, indent string) string {
	return s.fit(fmt.Sprintf("%s%s  %s  %s", indent, s.id(t.ID), stateText(t), oneLine(t.Title)))
}

// fit cuts a line to the width of the terminal.
func (s *session) fit(line string) string {
	if !s.outTerm {
		return line
	}
	return strings.TrimRight(ansi.Truncate(line, s.width, "…"), " ")
}
