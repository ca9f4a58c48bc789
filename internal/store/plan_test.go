package store_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// wholeWorkspace matches a plan in which SQLite reads all tasks of a workspace, or all their dependencies.
var wholeWorkspace = regexp.MustCompile(`INDEX sqlite_autoindex_(tasks|task_dependencies)_1 \(workspace_id=\?\)\n`)

// Reading a few tasks costs the same among many others. PostgreSQL's plans depend on the contents of its tables, and
// SQLite's do not.
func TestSQLiteReadsFewTasksByTheirIndex(t *testing.T) {
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
	_, err := r.CountTasksByState(store.TaskFilter{})
	must(t, err)
	_, err = r.QuestionDetails([]*fermata.Question{{ID: "q_1", TaskID: "task_1"}}, "mem_1")
	must(t, err)
	plans := storetest.OpenFile(t, opts.URL)
	defer func() { must(t, plans.Close()) }()
	for _, statement := range ran.All() {
		if plan := explain(t, plans, statement); wholeWorkspace.MatchString(plan) {
			t.Errorf("all tasks are read:\n%s\n%s", plan, statement)
		}
	}
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
