package drawing

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// Tree is the drawing of a tree of tasks.
type Tree struct {
	s     *session.Session
	id    string
	marks Marks
	// list is the tree, parents first. tasksByID maps ids to the tasks of the tree
	// and to the tasks outside it that one of them waits for.
	list      []*fermata.Task
	tasksByID map[string]*fermata.Task
}

// NewTree returns the drawing of the task with the id and all below it. If plain is true, it has letters instead
// of symbols.
func NewTree(s *session.Session, id string, plain bool) *Tree {
	return &Tree{s: s, id: id, marks: ChooseMarks(&s.Console, plain)}
}

// Read reads the tree from the server.
func (v *Tree) Read(ctx context.Context) error {
	list, err := v.s.Client.Tree(ctx, v.id)
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
			other, err := v.s.Client.Task(ctx, id)
			if session.IsLookupFailure(err) {
				return err
			}
			v.tasksByID[id] = other
		}
	}
	return nil
}

// Rows returns the tasks below their parents, beginning with the top of the
// tree.
func (v *Tree) Rows() []Row {
	below := map[string][]*fermata.Task{}
	for _, t := range v.list {
		below[t.ParentID] = append(below[t.ParentID], t)
	}
	var rows []Row
	var draw func(t *fermata.Task, first, rest string)
	draw = func(t *fermata.Task, first, rest string) {
		children := below[t.ID]
		under := rest + "  "
		if len(children) > 0 {
			under = rest + v.marks.Down
		}
		rows = append(rows, Row{Indent: first, Text: v.headLine(t), Key: t.ID + render.StateText(t) + t.Title})
		for _, detail := range v.details(t) {
			detail.Indent = under
			rows = append(rows, detail)
		}
		for i, child := range children {
			if i == len(children)-1 {
				draw(child, rest+v.marks.last, rest+"   ")
			} else {
				draw(child, rest+v.marks.branch, rest+v.marks.Down+" ")
			}
		}
	}
	if len(v.list) > 0 {
		draw(v.list[0], "", "")
	}
	return rows
}

// ColorByState returns a text in the colour of a state.
func ColorByState(p terminal.Printer, state fermata.TaskState, text string) string {
	switch {
	case state.IsSuspended():
		return p.Yellow(text)
	case state == fermata.TaskFailed:
		return p.Red(text)
	case state == fermata.TaskDone:
		return p.Green(text)
	default:
		return text
	}
}

// headLine returns the line of a task: symbol, state in words, id and title.
func (v *Tree) headLine(t *fermata.Task) string {
	p := v.s.Stdout()
	state := ColorByState(p, t.State, v.marks.State(t.State)+" "+render.StateText(t))
	return state + "  " + p.Dim(v.s.IDText(t.ID)) + "  " + terminal.OneLine(t.Title)
}

// details returns the tasks that a task waits for, and its question.
func (v *Tree) details(t *fermata.Task) []Row {
	var list []Row
	for _, id := range t.BlockedBy {
		other := v.tasksByID[id]
		if t.State.IsEnded() || other != nil && t.IsUnblockedBy(other) {
			continue
		}
		line := v.marks.Waits + " waits for " + terminal.OneLine(v.s.IDText(id))
		if other != nil {
			line += "  " + terminal.OneLine(other.Title) + " (" + string(other.State) + ")"
		}
		list = append(list, Row{Text: line, Key: t.ID + line})
	}
	if q := t.PendingQuestion; q != nil && !t.State.IsEnded() {
		p := v.s.Stdout()
		text := p.Yellow(v.marks.Asks) + " " + p.Dim(v.s.IDText(q.ID)) + "  " + terminal.OneLine(q.Title)
		key := fmt.Sprint(q.ID, q.Assignees, q.Deadline, len(q.Votes))
		list = append(list, Row{Text: text + p.Dim("  ["+render.QuestionFacts(&v.s.Console, q)+"]"), Key: key})
	}
	return list
}

// IsAffectedBy reports whether an event belongs to a shown task. A new task may be below a shown one.
func (v *Tree) IsAffectedBy(e *fermata.Event) bool {
	return e.Type == fermata.EventTaskCreated || v.tasksByID[e.TaskID] != nil
}

// IsOver returns false, because an ended task may be reopened.
func (v *Tree) IsOver() bool { return false }

// Document returns the tasks of the tree, parents first.
func (v *Tree) Document() any {
	if v.list == nil {
		return nil
	}
	return v.list
}
