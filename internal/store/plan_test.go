package store_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// wholeWorkspace matches a plan in which SQLite reads all rows of a workspace in a table.
var wholeWorkspace = regexp.MustCompile(`INDEX sqlite_autoindex_(tasks|task_dependencies|questions|deliveries|workflow_runs|events)_1 \(workspace_id=\?\)\n`)

// Reading a few rows costs the same among many others. PostgreSQL's plans depend on the contents of its tables, and
// SQLite's do not.
func TestSQLiteReadsFewRowsByTheirIndex(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := storetest.Open(t, opts)
	var ran store.Statements
	store.Record(db, ran.See)
	r := db.Reader(t.Context(), store.DefaultWorkspace)
	for _, state := range fermata.TaskStates {
		for _, sort := range []fermata.TaskSort{fermata.SortNewest, fermata.SortOldest, fermata.SortPriority, fermata.SortUpdated} {
			_, err := r.Tasks(store.TaskFilter{States: []fermata.TaskState{state}, Sort: sort, Limit: 50})
			must(t, err)
		}
	}
	for _, f := range []store.TaskFilter{{Project: "web"}, {Agent: "review"}, {Sort: fermata.SortUpdated}, {Sort: fermata.SortPriority}, {ParentID: "task_1"}, {Label: "bug"}} {
		f.Limit = 50
		_, err := r.Tasks(f)
		must(t, err)
	}
	for _, f := range []store.QuestionFilter{
		{Type: "approval"}, {Project: "web"}, {Status: "timed_out"}, {Assignee: "alice"}, {Status: "pending", Type: "approval"}, {Status: "pending", Project: "web", Sort: store.SortNewest}, {Status: "pending", Sort: store.SortOldest, AskedBefore: time.UnixMilli(1)},
		{Status: "pending", Sort: store.SortUrgency, GraveRisk: fermata.RiskHigh}, {Status: "pending", Sort: store.SortDeadline, DueUntil: time.UnixMilli(1)},
	} {
		f.Limit = 50
		_, err := r.Questions(f)
		must(t, err)
	}
	for _, f := range []store.DeliveryFilter{{State: "dead"}, {ChannelID: "ch_1"}, {MemberID: "mem_1"}} {
		f.Limit = 50
		_, err := r.Deliveries(f)
		must(t, err)
	}
	for _, f := range []store.WorkflowRunFilter{{States: []fermata.TaskState{fermata.TaskFailed}}, {Project: "web"}, {Trigger: fermata.TriggerManual}} {
		f.Limit = 50
		_, err := r.WorkflowRuns(f)
		must(t, err)
	}
	_, err := r.Events(store.EventFilter{Types: []string{"question.escalated"}, Limit: 50})
	must(t, err)
	_, err = r.CountTasksByState(store.TaskFilter{})
	must(t, err)
	_, err = r.QuestionDetails([]*fermata.Question{{ID: "q_1", TaskID: "task_1"}}, "mem_1")
	must(t, err)
	readForRetention(t, r)
	plans := storetest.OpenFile(t, opts.URL)
	defer func() { must(t, plans.Close()) }()
	for _, statement := range ran.All() {
		if strings.Contains(statement, "FROM tasks WHERE priority = ") {
			// Most tasks have this priority, so they are read in the order of the ids.
			continue
		}
		if plan := explain(t, plans, statement); wholeWorkspace.MatchString(plan) {
			t.Errorf("all rows are read:\n%s\n%s", plan, statement)
		}
	}
}

// readForRetention makes the look-ups that find what retention removes.
func readForRetention(t *testing.T, r store.Reader) {
	t.Helper()
	ids := []string{"task_1", "task_2"}
	_, err := r.EndedRoots(time.Now(), store.EndedPosition{}, 50)
	must(t, err)
	_, err = r.LastEvents(ids)
	must(t, err)
	_, err = r.EventSeqs(ids)
	must(t, err)
	_, err = r.TaskVersions(ids)
	must(t, err)
	_, err = r.TasksInUse(ids)
	must(t, err)
	_, err = r.FirstUnreadEvent()
	must(t, err)
	_, err = r.RunsWithLogs(time.Now(), "", 50)
	must(t, err)
}

// PostgreSQL does not compile a query that reads a whole table: compiling takes longer than running it.
func TestPostgresCompilesNoQuery(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Postgres(t))
	plan, err := store.Analyze(t.Context(), db, "SELECT count(*) FROM tasks WHERE title = 'Paint'")
	must(t, err)
	if strings.Contains(plan, "JIT") {
		t.Errorf("the query was compiled:\n%s", plan)
	}
}

// explain returns SQLite's plan for a query, with any parameters.
func explain(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rs, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "$"))...)
	must(t, err)
	defer func() { must(t, rs.Close()) }()
	var plan strings.Builder
	for rs.Next() {
		var id, parent, unused int
		var detail string
		must(t, rs.Scan(&id, &parent, &unused, &detail))
		plan.WriteString(detail + "\n")
	}
	must(t, rs.Err())
	return plan.String()
}
