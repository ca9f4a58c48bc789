package engine_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// checkSwept checks that nothing is overdue after a sweep.
func (m *machine) checkSwept() {
	ctx, db := m.world.Context(), m.world.DB
	now, err := db.Now(ctx)
	m.checkError("now", err)
	left, err := db.OverdueRows(ctx, now, 10)
	m.checkError("overdue", err)
	if len(left.HeldAnswers)+len(left.Questions)+len(left.Runs)+len(left.Tasks) > 0 {
		m.Fatalf("overdue behind the sweep: %+v", left)
	}
}

// rows are all rows that the checks read.
type rows struct {
	tasks     map[string]*fermata.Task
	questions map[string][]*fermata.Question
	runs      map[string][]*fermata.Run
}

func (m *machine) rows() rows {
	r := m.world.DB.Reader(m.world.Context(), store.DefaultWorkspace)
	all := rows{map[string]*fermata.Task{}, map[string][]*fermata.Question{}, map[string][]*fermata.Run{}}
	tasks, err := r.Tasks(store.TaskFilter{Limit: 100})
	m.checkError("tasks", err)
	for _, t := range tasks {
		all.tasks[t.ID] = t
		if t.RunID != "" {
			all.runs[t.ID], err = r.Runs(t.ID)
			m.checkError("runs", err)
		}
	}
	questions, err := r.Questions(store.QuestionFilter{Limit: 500})
	m.checkError("questions", err)
	for _, q := range questions {
		all.questions[q.TaskID] = append(all.questions[q.TaskID], q)
	}
	events, err := r.Events(store.EventFilter{After: m.seen, Limit: 10_000})
	m.checkError("events", err)
	for _, e := range events {
		m.seen = e.Seq
		switch e.Type {
		case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
			m.closings[e.QuestionID]++
		default:
		}
	}
	return all
}

func (m *machine) check(*rapid.T) {
	all := m.rows()
	for _, t := range all.tasks {
		for _, problem := range slices.Concat(m.questionProblems(t, all), runProblems(t, all), m.stateProblems(t, all)) {
			m.Fatalf("%s (%s): %s\n%+v", t.Title, t.State, problem, t)
		}
	}
}

// questionProblems compares a task with its questions.
func (m *machine) questionProblems(t *fermata.Task, all rows) (problems []string) {
	var suspending []string
	for _, q := range all.questions[t.ID] {
		closed := q.Status != fermata.Pending
		if n := m.closings[q.ID]; closed != (n == 1) || n > 1 || closed != (q.Resolution != nil) {
			problems = append(problems, fmt.Sprintf("question %s is %s with %d ends", q.ID, q.Status, n))
		}
		if closed && q.HeldAnswer != nil {
			problems = append(problems, "a closed question holds an answer")
		}
		if closed {
			continue
		}
		if t.State.IsEnded() {
			problems = append(problems, "it ended with a pending question")
		}
		if q.Type.Suspends() {
			suspending = append(suspending, q.ID)
		}
	}
	switch {
	case len(suspending) > 1:
		problems = append(problems, "several questions suspend it")
	case strings.Join(suspending, "") != t.PendingQuestionID:
		problems = append(problems, fmt.Sprintf("it points to %q, pending is %v", t.PendingQuestionID, suspending))
	case t.State.IsSuspended() && len(suspending) == 0:
		problems = append(problems, "it waits for no question")
	}
	for _, q := range all.questions[t.ID] {
		if t.State.IsSuspended() && q.ID == t.PendingQuestionID && q.Type.AwaitingState() != t.State {
			problems = append(problems, "it waits in the wrong state for "+string(q.Type))
		}
	}
	return problems
}

// runProblems compares a task with its runs.
func runProblems(t *fermata.Task, all rows) (problems []string) {
	running := ""
	for i, r := range all.runs[t.ID] {
		if r.Attempt != i+1 {
			problems = append(problems, "its runs have a gap")
		}
		if r.State != fermata.RunRunning {
			continue
		}
		if running != "" {
			problems = append(problems, "two runs are running")
		}
		running = r.ID
	}
	switch {
	case running != "" && (t.State != fermata.TaskInProgress || t.RunID != running):
		problems = append(problems, "a run is running that is not its own")
	case running == "" && t.State == fermata.TaskInProgress && t.Runner != fermata.RunnerExternal:
		problems = append(problems, "nobody executes it")
	}
	return problems
}

// stateProblems checks the rules of a task's state.
func (m *machine) stateProblems(t *fermata.Task, all rows) (problems []string) {
	if t.State == fermata.TaskBlocked && !slices.ContainsFunc(t.BlockedBy, func(id string) bool { return !t.IsUnblockedBy(all.tasks[id]) }) {
		problems = append(problems, "it is blocked by nothing")
	}
	if (t.State == fermata.TaskDeferred) != (t.DeferUntil != nil) && t.DeferUntil != nil {
		problems = append(problems, "it is put off in another state")
	}
	if t.State.IsEnded() && t.Unread != 0 {
		problems = append(problems, "it ended and counts what is unread")
	}
	if t.State == fermata.TaskInputReceived && t.Unread == 0 {
		problems = append(problems, "it received nothing")
	}
	if t.Runner == fermata.RunnerExternal && (t.State.IsClaimable() || t.State == fermata.TaskBlocked || t.State == fermata.TaskDeferred) {
		problems = append(problems, "it is external and waits for a worker")
	}
	if t.Unread == 0 && !t.State.IsEnded() {
		if n := m.countUnhanded(t, all); n > 0 {
			problems = append(problems, fmt.Sprintf("%d things that no run was handed are forgotten", n))
		}
	}
	return problems
}

// countUnhanded counts the messages and closed questions that the next run must be handed. A question that the agent
// replaced by its next one does not count.
func (m *machine) countUnhanded(t *fermata.Task, all rows) int {
	messages, err := m.world.DB.Reader(m.world.Context(), store.DefaultWorkspace).UnhandedMessages(t.ID, "")
	m.checkError("messages", err)
	n := len(messages)
	for _, q := range all.questions[t.ID] {
		replaced := q.Resolution != nil && strings.HasPrefix(q.Resolution.Comment, "replaced by ")
		if q.Status != fermata.Pending && q.HandedTo == "" && !replaced {
			n++
		}
	}
	return n
}
