package fermata_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fermata-hq/fermata"
)

func TestStatesMoveAlongEveryArrow(t *testing.T) {
	t.Parallel()
	for _, a := range fermata.Transitions {
		task := &fermata.Task{State: a.From}
		if err := task.Move(a.To); err != nil || task.State != a.To {
			t.Errorf("%s -> %s (%s): state %s, error %v", a.From, a.To, a.Causes, task.State, err)
		}
	}
}

func TestStatesRefuseEveryOtherPair(t *testing.T) {
	t.Parallel()
	refused := 0
	for _, from := range append(slices.Clone(fermata.TaskStates), "unknown") {
		for _, to := range append(slices.Clone(fermata.TaskStates), "unknown") {
			if slices.ContainsFunc(fermata.Transitions, func(a fermata.Transition) bool { return a.From == from && a.To == to }) {
				continue
			}
			refused++
			task := &fermata.Task{State: from, Reason: "why", DeferUntil: ptr(noon)}
			err := task.Move(to)
			if fermata.CodeOf(err) != fermata.CodeIllegalTransition {
				t.Errorf("%s -> %s: error %v", from, to, err)
				continue
			}
			if !strings.Contains(err.Error(), string(from)) || !strings.Contains(err.Error(), string(to)) {
				t.Errorf("%s -> %s: the error does not name both: %v", from, to, err)
			}
			if diff := cmp.Diff(&fermata.Task{State: from, Reason: "why", DeferUntil: ptr(noon)}, task); diff != "" {
				t.Errorf("%s -> %s: refused, but changed: %s", from, to, diff)
			}
		}
	}
	if want := 12*12 - len(fermata.Transitions); refused != want {
		t.Errorf("%d pairs are refused, want %d: an arrow stands twice", refused, want)
	}
}

func TestStatesMoveClearsWhatIsOver(t *testing.T) {
	t.Parallel()
	task := &fermata.Task{State: fermata.TaskDeferred, DeferUntil: ptr(noon.Add(time.Hour))}
	if err := task.Move(fermata.TaskOpen); err != nil || task.DeferUntil != nil {
		t.Errorf("an open task is still deferred until %v (%v)", task.DeferUntil, err)
	}
	task = &fermata.Task{State: fermata.TaskInProgress, Reason: "question_timed_out"}
	if err := task.Move(fermata.TaskFailed); err != nil || task.Reason == "" {
		t.Errorf("a failed task lost its reason (%v)", err)
	}
	if err := task.Move(fermata.TaskOpen); err != nil || task.Reason != "" {
		t.Errorf("a reopened task has the reason %q (%v)", task.Reason, err)
	}
}

// TestStatesClasses checks which states a worker may claim, which wait for a
// person, and which have ended (docs/inside/contract.md#task-states).
func TestStatesClasses(t *testing.T) {
	t.Parallel()
	type class struct{ claimable, person, ended bool }
	want := map[fermata.TaskState]class{
		"open": {claimable: true}, "blocked": {}, "deferred": {}, "in_progress": {},
		"awaiting_input": {person: true}, "awaiting_approval": {person: true}, "input_received": {claimable: true},
		"done": {ended: true}, "failed": {ended: true}, "cancelled": {ended: true}, "skipped": {ended: true},
	}
	got := map[fermata.TaskState]class{}
	for _, s := range fermata.TaskStates {
		got[s] = class{s.IsClaimable(), s.IsSuspended(), s.IsEnded()}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(class{})); diff != "" {
		t.Error(diff)
	}
}

// TestStatesShape checks properties of the table as a whole.
func TestStatesShape(t *testing.T) {
	t.Parallel()
	for _, s := range fermata.TaskStates {
		if !s.IsEnded() && !fermata.CanMove(s, fermata.TaskCancelled) {
			t.Errorf("a task that is %s cannot be cancelled", s)
		}
		if s.IsClaimable() && !fermata.CanMove(s, fermata.TaskInProgress) {
			t.Errorf("a task that is %s is claimable, but cannot be claimed", s)
		}
		if s.IsSuspended() && (!fermata.CanMove(s, fermata.TaskInputReceived) || !fermata.CanMove(s, fermata.TaskFailed) || !fermata.CanMove(s, fermata.TaskSkipped)) {
			t.Errorf("a task that is %s cannot be moved on by an answer or a deadline", s)
		}
		for _, to := range fermata.TaskStates {
			if s.IsEnded() && (to.IsEnded() || to.IsSuspended()) && fermata.CanMove(s, to) {
				t.Errorf("an ended task moves from %s to %s; only a person's reopen and a late answer lead out of an end", s, to)
			}
		}
	}
	for _, typ := range fermata.QuestionTypes {
		if typ.Suspends() && !typ.AwaitingState().IsSuspended() {
			t.Errorf("%s suspends the task in the state %s", typ, typ.AwaitingState())
		}
	}
}

const statesFile = "docs/inside/states.md"

func TestStatesDocument(t *testing.T) {
	t.Parallel()
	if *update {
		writeFile(t, statesFile, statesDocument())
	}
	data, err := os.ReadFile(statesFile)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)

	var rows []fermata.Transition
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `(\\w+)` \\| (.*) \\|$").FindAllStringSubmatch(doc, -1) {
		rows = append(rows, fermata.Transition{From: fermata.TaskState(m[1]), To: fermata.TaskState(m[2]), Causes: m[3]})
	}
	if diff := cmp.Diff(fermata.Transitions, rows); diff != "" {
		t.Errorf("the table of %s is not that of the code (-code +page):\n%s", statesFile, diff)
	}

	type pair struct{ From, To fermata.TaskState }
	var drawn, want []pair
	for _, m := range regexp.MustCompile(`(?m)^ {4}(\w+) --> (\w+)$`).FindAllStringSubmatch(doc, -1) {
		drawn = append(drawn, pair{fermata.TaskState(m[1]), fermata.TaskState(m[2])})
	}
	for _, a := range fermata.Transitions {
		if isDrawn(a) {
			want = append(want, pair{a.From, a.To})
		}
	}
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Errorf("the diagram of %s is not that of the code (-code +page):\n%s", statesFile, diff)
	}
	for _, s := range fermata.TaskStates {
		if !strings.Contains(doc, "`"+string(s)+"`") {
			t.Errorf("%s does not name the state %s", statesFile, s)
		}
	}
	if diff := cmp.Diff(statesDocument(), doc); diff != "" {
		t.Errorf("%s is stale; write it with go test -run States -update (-code +page):\n%s", statesFile, diff)
	}
}

// isDrawn reports whether the diagram shows the transition. Cancelling and
// reopening are possible almost everywhere and would hide the rest.
func isDrawn(a fermata.Transition) bool {
	return a.To != fermata.TaskCancelled && !a.From.IsEnded()
}

func statesDocument() string {
	var sb strings.Builder
	sb.WriteString(`# States of a task

Generated from the table in ` + "`task_state.go`" + ` with ` + "`go test -run States -update .`" + `; a test compares the two, and the
` + "`CHECK`" + ` constraint of the database. A task changes its state along these arrows and in no other way: any other change is
refused with ` + "`illegal_transition`" + `, which names both states.

`)
	class := func(title string, in func(fermata.TaskState) bool) {
		var names []string
		for _, s := range fermata.TaskStates {
			if in(s) {
				names = append(names, "`"+string(s)+"`")
			}
		}
		fmt.Fprintf(&sb, "- %s: %s\n", title, strings.Join(names, ", "))
	}
	class("A worker may claim it", fermata.TaskState.IsClaimable)
	class("It needs a person", fermata.TaskState.IsSuspended)
	class("It has ended", fermata.TaskState.IsEnded)
	class("Something else moves it on", func(s fermata.TaskState) bool { return !s.IsClaimable() && !s.IsSuspended() && !s.IsEnded() })

	sb.WriteString("\nThe diagram leaves out `cancel`, possible in every state that is not an end, and `reopen`, possible in every end.\n\n```mermaid\nstateDiagram-v2\n    [*] --> open\n    [*] --> deferred\n    [*] --> in_progress\n")
	for _, a := range fermata.Transitions {
		if isDrawn(a) {
			fmt.Fprintf(&sb, "    %s --> %s\n", a.From, a.To)
		}
	}
	sb.WriteString("```\n\n| from | to | when |\n| --- | --- | --- |\n")
	for _, a := range fermata.Transitions {
		fmt.Fprintf(&sb, "| `%s` | `%s` | %s |\n", a.From, a.To, a.Causes)
	}
	return sb.String()
}

// TestStatesConstraint compares the states with the values that the database accepts.
func TestStatesConstraint(t *testing.T) {
	t.Parallel()
	const pattern = "internal/store/migrations/*.sql"
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Logf("no %s yet: there is no constraint to compare with", pattern)
		return
	}
	var lists [][]string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, checkLists(string(data))...)
	}
	tests := []struct {
		what string
		// key is a value that only this list has.
		key  string
		want []string
	}{
		{"states of a task", "input_received", texts(fermata.TaskStates)},
		{"statuses of a question", "answered", texts(fermata.QuestionStatuses)},
		{"states of a run", "released", texts(fermata.RunStates)},
		{"states of a delivery", "dead", texts(fermata.DeliveryStates)},
	}
	for _, tc := range tests {
		// The last list applies, because a later migration replaces an earlier one.
		var got []string
		for _, list := range lists {
			if slices.Contains(list, tc.key) {
				got = list
			}
		}
		if got == nil {
			t.Errorf("no CHECK (… IN (…)) of %s lists the %s: want %s", pattern, tc.what, strings.Join(tc.want, ", "))
			continue
		}
		if diff := cmp.Diff(tc.want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("%s (-code +%s):\n%s", tc.what, pattern, diff)
		}
	}
}

// checkLists returns the values of every CHECK (column IN ('a', 'b')).
func checkLists(sql string) [][]string {
	sql = regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(sql, "")
	var lists [][]string
	for _, m := range regexp.MustCompile(`(?is)CHECK\s*\(\s*\w+\s+IN\s*\(([^)]*)\)\s*\)`).FindAllStringSubmatch(sql, -1) {
		var list []string
		for _, v := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(m[1], -1) {
			list = append(list, v[1])
		}
		lists = append(lists, list)
	}
	return lists
}

func TestStatesCheckListsAreRead(t *testing.T) {
	t.Parallel()
	sql := "CREATE TABLE tasks (\n  state TEXT NOT NULL -- CHECK (state IN ('old'))\n    CHECK (state IN (\n'open', 'done')),\n kind text check(kind in ('a')))"
	if diff := cmp.Diff([][]string{{"open", "done"}, {"a"}}, checkLists(sql)); diff != "" {
		t.Error(diff)
	}
}

func texts[T ~string](values []T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
