package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Claimable selects claimable tasks: either those of some kinds, or those of some runners. Each way has an index of its
// own. So tasks that are not selected cost nothing, however many there are.
type Claimable struct {
	// Kinds are the kinds of the tasks. If the list is nil, Runners and Isolated decide.
	Kinds []fermata.TaskKind
	// Runners are the runners of the tasks; "" selects the tasks without a runner. Isolated also selects tasks that must
	// be isolated.
	Runners  []string
	Isolated bool
}

// ClaimableFor returns the selection of the tasks that the request takes. kinds returns the kinds of all claimable tasks. It
// is called only if the request is for some projects or roles.
func ClaimableFor(c fermata.ClaimRequest, kinds func() ([]fermata.TaskKind, error)) (Claimable, error) {
	if c.TakesAnyProjectAndAgent() {
		return Claimable{Runners: c.TakenRunners(), Isolated: c.Isolates}, nil
	}
	all, err := kinds()
	taken := []fermata.TaskKind{}
	for _, k := range all {
		if c.Takes(k) {
			taken = append(taken, k)
		}
	}
	// Equal selections have the same order, so that claims which come together share a look-up.
	slices.SortFunc(taken, fermata.TaskKind.Compare)
	return Claimable{Kinds: taken}, err
}

// claimable is the condition of the indexes of claimable tasks. A query contains it word by word, because SQLite uses
// such an index for no other query.
const claimable = "state IN ('open', 'input_received')"

// NextClaimable returns the first of the selected tasks: tasks in state input_received first, then by priority, then by
// age. If there is none, it returns a [fermata.CodeNotFound].
func (r Reader) NextClaimable(c Claimable) (*fermata.Task, error) {
	var found []*fermata.Task
	if !c.isEmpty() {
		sql, args := r.claimableSQL(taskColumns, c, 1)
		var err error
		if found, err = list(r, r.scanTask, sql, args...); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fermata.NotFound("claimable task", "")
	}
	return sortReceivedFirst(found)[0], nil
}

// ClaimableKinds lists the kinds of all claimable tasks. It costs a few look-ups for each kind, however many tasks
// there are.
func (r Reader) ClaimableKinds() ([]fermata.TaskKind, error) {
	return list(r, func(rs rows) (fermata.TaskKind, error) { return scanKind(rs) }, claimableKindsSQL, r.workspace)
}

// claimableKindsSQL jumps from the first task of a kind to the first task of the next kind. A subquery returns one value, so
// each step returns the id of its task, and the next step reads the kind from that task. SQLite searches the index by all
// four columns only if they are compared with expressions, not with columns.
const claimableKindsSQL = `WITH RECURSIVE first (id) AS (
	SELECT (SELECT id FROM tasks WHERE workspace_id = $1 AND ` + claimable + `
		ORDER BY ` + kindColumns + ` LIMIT 1)
	UNION ALL
	SELECT (SELECT id FROM tasks WHERE workspace_id = $1 AND ` + claimable + `
		AND (runner, isolated, project, agent) > (t.runner || '', t.isolated + 0, t.project || '', t.agent || '')
		ORDER BY ` + kindColumns + ` LIMIT 1)
	FROM first JOIN tasks t ON t.workspace_id = $1 AND t.id = first.id)
	SELECT ` + kindColumns + ` FROM first JOIN tasks ON workspace_id = $1 AND tasks.id = first.id`

// KindsByID returns the kinds of the tasks, by id.
func (r Reader) KindsByID(ids []string) (map[string]fermata.TaskKind, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return mapByID(r, func(rs rows, id *string) (fermata.TaskKind, error) { return scanKind(rs, id) },
		fmt.Sprintf(r.d.byID, "id, "+kindColumns, "tasks"), r.workspace, columnText(ids))
}

const kindColumns = "runner, isolated, project, agent"

// scanKind reads a row of some other columns, and of kindColumns after them.
func scanKind(rs rows, others ...any) (fermata.TaskKind, error) {
	var k fermata.TaskKind
	var isolated int64
	err := rs.Scan(append(others, &k.Runner, &isolated, &k.Project, &k.Agent)...)
	k.Isolated = isolated != 0
	return k, err
}

// isEmpty reports whether the selection contains no task.
func (c Claimable) isEmpty() bool { return c.Kinds != nil && len(c.Kinds) == 0 }

// claimableSQL returns the query for some columns of at least the first n tasks of the selection. The columns must
// include id, state and priority.
func (r Reader) claimableSQL(columns string, c Claimable, n int) (string, []any) {
	if c.Kinds != nil {
		return r.claimableOfKindsSQL(columns, c.Kinds, n)
	}
	return r.claimableOfRunnersSQL(columns, c, n)
}

// claimableOfKindsSQL looks up the first n tasks of each kind and state.
func (r Reader) claimableOfKindsSQL(columns string, kinds []fermata.TaskKind, n int) (string, []any) {
	wanted := make([]map[string]string, 0, len(kinds))
	for _, k := range kinds {
		wanted = append(wanted, map[string]string{
			"runner": k.Runner, "project": k.Project, "agent": k.Agent, "isolated": strconv.FormatInt(boolColumn(k.Isolated), 10),
		})
	}
	field := func(name string) string { return fmt.Sprintf(r.d.field, "kind.value", name) }
	limit := strconv.Itoa(n)
	firstOf := func(state fermata.TaskState) string {
		return "SELECT " + qualifyColumns("t", columns) + " FROM " + fmt.Sprintf(r.d.elements, 2) + " AS kind CROSS JOIN tasks t WHERE t.workspace_id = $1 AND " +
			fmt.Sprintf(r.d.inQuery, "t.id", "SELECT id FROM tasks WHERE workspace_id = $1 AND "+claimable+
				" AND runner = "+field("runner")+" AND isolated = CAST("+field("isolated")+" AS BIGINT) AND project = "+field("project")+
				" AND agent = "+field("agent")+" AND state = '"+string(state)+"' ORDER BY priority, id LIMIT "+limit)
	}
	best := func(state fermata.TaskState) string {
		return "SELECT * FROM (SELECT * FROM (" + firstOf(state) + ") AS of_kinds ORDER BY priority, id LIMIT " + limit + ") AS of_state"
	}
	return best(fermata.TaskInputReceived) + " UNION ALL " + best(fermata.TaskOpen), []any{r.workspace, columnText(wanted)}
}

// claimableOfRunnersSQL has a query for each runner, and a second one for its isolated tasks. The states are literals in
// the statement. So each query reads the first rows of its part of an index.
func (r Reader) claimableOfRunnersSQL(columns string, c Claimable, n int) (string, []any) {
	args := []any{r.workspace}
	order := " ORDER BY priority, id LIMIT " + strconv.Itoa(n)
	var open, received []string
	for _, runner := range c.Runners {
		args = append(args, runner)
		selectSQL := func(state fermata.TaskState, isolated int64) string {
			return fmt.Sprintf("SELECT * FROM (SELECT %s FROM tasks WHERE state = '%s' AND runner = $%d AND isolated = %d AND workspace_id = $1%s) AS of_runner",
				columns, state, len(args), isolated, order)
		}
		for isolated := range boolColumn(c.Isolated) + 1 {
			open, received = append(open, selectSQL(fermata.TaskOpen, isolated)), append(received, selectSQL(fermata.TaskInputReceived, isolated))
		}
	}
	firstOf := func(queries []string) string {
		if len(queries) == 1 {
			return queries[0]
		}
		return "SELECT * FROM (" + strings.Join(queries, " UNION ALL ") + order + ") AS of_state"
	}
	return firstOf(received) + " UNION ALL " + firstOf(open), args
}

// sortReceivedFirst moves the tasks in state input_received before the open ones.
func sortReceivedFirst(found []*fermata.Task) []*fermata.Task {
	slices.SortStableFunc(found, func(a, b *fermata.Task) int {
		return cmp.Compare(claimRank[a.State], claimRank[b.State])
	})
	return found
}

var claimRank = map[fermata.TaskState]int{fermata.TaskInputReceived: 0, fermata.TaskOpen: 1}

// ClaimRows are the rows that a claim of a task needs.
type ClaimRows struct {
	// LastRun is the last run of the task, or nil.
	LastRun *fermata.Run
	// Questions and Messages are those that no run was handed.
	Questions []*fermata.Question
	Messages  []*fermata.Message
}

// IsReadForClaim reports whether [Tx.ReadForClaim] needs no look-up for the task.
func (tx *Tx) IsReadForClaim(t *fermata.Task) bool {
	run := tx.g.readAhead.runs[t.RunID]
	return (t.RunID == "" || run != nil && !tx.isStale(run.ID)) && (t.Unread == 0 || tx.hasHandOver(t.ID))
}

// ReadForClaim reads the rows that a claim of the task needs, in one round trip at most.
func (tx *Tx) ReadForClaim(t *fermata.Task) (*ClaimRows, error) {
	found := &ClaimRows{}
	var lookups []lookup
	found.LastRun = takeRow(tx, tx.g.readAhead.runs, t.RunID, noOthers[fermata.Run])
	if t.RunID != "" && found.LastRun == nil {
		lookups = append(lookups, lookup{sql: runByIDSQL, args: []any{tx.workspace, t.RunID}, scanRows: func(rs rows) error {
			return scanEach(rs, tx.scanRun, func(run *fermata.Run) { found.LastRun = run })
		}})
	}
	h := &handOver{}
	if t.Unread > 0 {
		if ahead := tx.takeHandOver(t.ID); ahead != nil {
			h = ahead
		} else {
			lookups = append(lookups, h.lookups(tx.Reader, "$2", t.ID)...)
		}
	}
	var err error
	if len(lookups) > 0 {
		err = tx.runLookups(tx.ctx, lookups...)
	}
	found.Questions, found.Messages = h.questions, h.messages
	return found, err
}
