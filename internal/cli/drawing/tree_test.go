package drawing

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

func TestNoTextOfATreeReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	rendertest.CheckNothingHides(t, strings.Join(treeLines(s, Symbols, rendertest.HiddenTask()), "\n"))
}

func TestTree(t *testing.T) {
	t.Parallel()
	s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	list := []*fermata.Task{
		{ID: "task_a", ParentID: "task_elsewhere", Title: "top", State: fermata.TaskBlocked},
		{ID: "task_b", ParentID: "task_a", Title: "left", State: fermata.TaskDone},
		{ID: "task_c", ParentID: "task_b", Title: "deep", State: fermata.TaskAwaitingInput, PendingQuestion: &fermata.Question{ID: "q_1", Title: "Which?"}},
		{ID: "task_d", ParentID: "task_a", Title: "right", State: fermata.TaskFailed, Reason: "question_timed_out"},
		{ID: "task_e", ParentID: "task_a", Title: "last", State: fermata.TaskBlocked, BlockedBy: []string{"task_b", "task_d", "task_x"}},
	}
	rendertest.Golden(t, "tree.txt", strings.Join(treeLines(s, Symbols, list...), "\n")+"\n")
	rendertest.Golden(t, "tree_plain.txt", strings.Join(treeLines(s, Letters, list...), "\n")+"\n")
}

// treeLines returns the lines of a tree.
func treeLines(s *session.Session, m Marks, list ...*fermata.Task) []string {
	v := &Tree{s: s, marks: m, list: list, tasksByID: map[string]*fermata.Task{}}
	for _, t := range list {
		v.tasksByID[t.ID] = t
	}
	return Lines(v.s, v)
}
