package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

type treeCommand struct {
	ID    string `arg:"" help:"The task at the top, or a question of it."`
	Watch bool   `short:"w" help:"Go on: draw it anew as it changes, or print the changes where the output is no terminal."`
	Plain bool   `help:"Plain letters instead of symbols and lines."`
}

func (treeCommand) Help() string {
	return `Each task has a symbol, its state in words, what it waits for, and the question it asks: of whom, and until when. --plain, TERM=dumb and a locale without UTF-8 leave the symbols out; NO_COLOR leaves the colours out.

With --watch and --json the whole tree is printed on one line whenever it changed.

Examples:

    fermata tree 3f9k2a
    fermata tree 3f9k2a --watch`
}

func (c *treeCommand) Run(ctx context.Context, s *session) error {
	top, err := s.findTask(ctx, c.ID)
	if err != nil {
		return err
	}
	v := newTreeView(s, top.ID, c.Plain)
	if c.Watch {
		return s.watch(ctx, v)
	}
	if err := v.read(ctx); err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(v.document())
	}
	for _, line := range s.drawingLines(v) {
		s.stdout().line("%s", line)
	}
	return nil
}

// treeView is the drawing of a tree of tasks.
type treeView struct {
	s     *session
	id    string
	marks marks
	// list is the tree, parents first. tasksByID maps ids to the tasks of the tree
	// and to the tasks outside it that one of them waits for.
	list      []*fermata.Task
	tasksByID map[string]*fermata.Task
}

// newTreeView returns the drawing of the task with the id and all below it. If plain is true, it has letters instead
// of symbols.
func newTreeView(s *session, id string, plain bool) *treeView {
	return &treeView{s: s, id: id, marks: s.marks(plain)}
}

// read reads the tree from the server.
func (v *treeView) read(ctx context.Context) error {
	list, err := v.s.client.Tree(ctx, v.id)
	if err != nil {
		return err
	}
	v.list, v.tasksByID = list, map[string]*fermata.Task{}
	for _, t := range list {
		v.tasksByID[t.ID] = t
	}
	for _, t := range list {
		for _, id := range t.BlockedBy {
			if t.State.IsEnded() || v.tasksByID[id] != nil {
				continue
			}
			other, err := v.s.client.Task(ctx, id)
			if isLookupFailure(err) {
				return err
			}
			v.tasksByID[id] = other
		}
	}
	return nil
}

// row is one line of the drawing.
type row struct {
	// indent is the place of the row in the tree.
	indent, text string
	// key changes when the row has new content. The clock changes only text.
	key string
	// isActive reports whether the row is under way. A screen that is too small
	// shows such a row first.
	isActive bool
}

// rows returns the tasks below their parents, beginning with the top of the
// tree.
func (v *treeView) rows() []row {
	below := map[string][]*fermata.Task{}
	for _, t := range v.list {
		below[t.ParentID] = append(below[t.ParentID], t)
	}
	var rows []row
	var draw func(t *fermata.Task, first, rest string)
	draw = func(t *fermata.Task, first, rest string) {
		children := below[t.ID]
		under := rest + "  "
		if len(children) > 0 {
			under = rest + v.marks.down
		}
		rows = append(rows, row{indent: first, text: v.headLine(t), key: t.ID + stateText(t) + t.Title})
		for _, detail := range v.details(t) {
			detail.indent = under
			rows = append(rows, detail)
		}
		for i, child := range children {
			if i == len(children)-1 {
				draw(child, rest+v.marks.last, rest+"   ")
			} else {
				draw(child, rest+v.marks.branch, rest+v.marks.down+" ")
			}
		}
	}
	if len(v.list) > 0 {
		draw(v.list[0], "", "")
	}
	return rows
}

// colorByState returns a text in the colour of a state.
func (p printer) colorByState(state fermata.TaskState, text string) string {
	switch {
	case state.IsSuspended():
		return p.yellow(text)
	case state == fermata.TaskFailed:
		return p.red(text)
	case state == fermata.TaskDone:
		return p.green(text)
	default:
		return text
	}
}

// headLine returns the line of a task: symbol, state in words, id and title.
func (v *treeView) headLine(t *fermata.Task) string {
	p := v.s.stdout()
	state := p.colorByState(t.State, v.marks.state(t.State)+" "+stateText(t))
	return state + "  " + p.dim(v.s.idText(t.ID)) + "  " + oneLine(t.Title)
}

// details returns the tasks that a task waits for, and its question.
func (v *treeView) details(t *fermata.Task) []row {
	var list []row
	for _, id := range t.BlockedBy {
		other := v.tasksByID[id]
		if t.State.IsEnded() || other != nil && t.IsUnblockedBy(other) {
			continue
		}
		line := v.marks.waits + " waits for " + oneLine(v.s.idText(id))
		if other != nil {
			line += "  " + oneLine(other.Title) + " (" + string(other.State) + ")"
		}
		list = append(list, row{text: line, key: t.ID + line})
	}
	if q := t.PendingQuestion; q != nil && !t.State.IsEnded() {
		p := v.s.stdout()
		text := p.yellow(v.marks.asks) + " " + p.dim(v.s.idText(q.ID)) + "  " + oneLine(q.Title)
		key := fmt.Sprint(q.ID, q.Assignees, q.Deadline, len(q.Votes))
		list = append(list, row{text: text + p.dim("  ["+v.s.questionFacts(q)+"]"), key: key})
	}
	return list
}

// questionFacts returns the type, the assignees, the deadline and other facts of a question.
func (s *console) questionFacts(q *fermata.Question) string {
	whom := "anybody"
	if len(q.Assignees) > 0 {
		whom = oneLine(strings.Join(q.Assignees, ", "))
	}
	parts := []string{string(q.Type), whom}
	switch timeLeft := s.leftText(q.Deadline); {
	case q.Deadline == nil:
		parts = append(parts, "no end")
	case s.outTerm:
		parts = append(parts, timeLeft+" left")
	default:
		parts = append(parts, "until "+timeLeft)
	}
	// A narrow screen cuts the end, so the assignees and the deadline come
	// first.
	return strings.Join(append(parts, notice.Facts(q)...), " · ")
}

// fit cuts a line to the width of the terminal.
func (s *console) fit(line string) string {
	if !s.outTerm {
		return line
	}
	return strings.TrimRight(ansi.Truncate(line, s.width, "…"), " ")
}
