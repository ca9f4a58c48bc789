package store

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// ReadAhead names rows that a write will read. They are read in the first round trip of its transaction.
// ReadAhead changes only the speed.
type ReadAhead struct {
	// Task is the id of a task.
	Task string
	// Question is the id of a question; its task is read with it. Events also reads the events about the question.
	Question string
	Events   bool
	// HandOver also reads the last run of the task, and what its next run is handed.
	HandOver bool
	// Run is the id of a run; its task is read with it.
	Run string
	// TaskEnd also reads the ids of the questions and dependent tasks that the end of the run's task affects.
	TaskEnd bool
	// Claim reads the first claimable task of the selection.
	Claim *Claimable
	// Deliveries are ids of deliveries.
	Deliveries []string
}

// readAhead holds the rows that were read when the transaction began. A row stays until a caller takes it, or until
// another caller of the same transaction writes about it and makes it stale.
type readAhead struct {
	tasks     map[string]*fermata.Task
	questions map[string]*fermata.Question
	runs      map[string]*fermata.Run
	// deliveries are without their content.
	deliveries map[string]*fermata.Delivery
	// events are the events about questions, by the id of the question.
	events   map[string][]*fermata.Event
	endLinks map[string][]endLink
	// claims are claimable tasks in the order in which they are claimed, by the text of the selection.
	claims map[string][]*fermata.Task
	// handOvers is what the next runs of these tasks are handed, by task.
	handOvers map[string]*handOver
	// stale are the ids about which a caller of the transaction has written. staleHandOvers are the tasks whose hand-over a
	// caller has changed.
	stale          map[string]bool
	staleHandOvers map[string]bool
}

// lookups returns the look-ups for the calls of a group.
func (a *readAhead) lookups(r Reader, calls []*call) []lookup {
	var out []lookup
	for _, c := range calls {
		for _, want := range c.readAheads {
			out = append(out, a.lookupsFor(r, want)...)
		}
	}
	return slices.Concat(out, a.claimLookups(r, calls), a.deliveryLookups(r, calls))
}

// deliveryLookups returns the look-up of all deliveries that the calls of the group name.
func (a *readAhead) deliveryLookups(r Reader, calls []*call) []lookup {
	var ids []string
	for _, c := range calls {
		for _, want := range c.readAheads {
			ids = append(ids, want.Deliveries...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return []lookup{{sql: byIDSQL(r, deliveryColumns, "deliveries"), args: []any{r.workspace, columnText(ids)}, scanRows: func(rs rows) error {
		return scanEach(rs, scanDelivery, func(d *fermata.Delivery) { put(&a.deliveries, deliveryID, d) })
	}}}
}

func (a *readAhead) lookupsFor(r Reader, want ReadAhead) []lookup {
	switch {
	case want.Task != "":
		return a.taskLookups(r, want)
	case want.Question != "":
		return a.questionLookups(r, want)
	case want.Run != "":
		return a.runLookups(r, want)
	}
	return nil
}

func (a *readAhead) taskLookups(r Reader, want ReadAhead) []lookup {
	out := []lookup{{sql: taskByIDSQL, args: []any{r.workspace, want.Task}, scanRows: func(rs rows) error {
		return scanEach(rs, r.scanTask, func(t *fermata.Task) { put(&a.tasks, taskID, t) })
	}}}
	if want.HandOver {
		out = append(out, a.handOverLookupsOf(r, "$2", want.Task, func() string { return want.Task })...)
	}
	return out
}

// claimLookups returns look-ups for the claims of the group. For equal selections, they read at least as many claimable
// tasks as there are claims.
func (a *readAhead) claimLookups(r Reader, calls []*call) []lookup {
	selections, counts := map[string]Claimable{}, map[string]int{}
	for _, c := range calls {
		for _, want := range c.readAheads {
			if want.Claim != nil {
				key := claimKey(*want.Claim)
				selections[key] = *want.Claim
				counts[key]++
			}
		}
	}
	var out []lookup
	for key, selection := range selections {
		n := roundUp(counts[key])
		sql, args := r.claimableSQL(taskColumns, selection, n)
		out = append(out, lookup{sql: sql, args: args, scanRows: func(rs rows) error {
			var found []*fermata.Task
			err := scanInto(&found, r.scanTask, "").scanRows(rs)
			a.addClaimable(key, sortReceivedFirst(found), n >= minClaimsForHandOver)
			return err
		}})
		if n >= minClaimsForHandOver {
			out = append(out, a.handOverLookups(r, selection, n)...)
		}
	}
	return out
}

// addClaimable stores the tasks that claims of a kind may take. withHandOver reports whether their hand-overs are read
// as well.
func (a *readAhead) addClaimable(key string, tasks []*fermata.Task, withHandOver bool) {
	if a.claims == nil {
		a.claims = map[string][]*fermata.Task{}
	}
	a.claims[key] = tasks
	for _, t := range tasks {
		if withHandOver {
			a.setHandOver(t.ID, &handOver{})
		}
	}
}

// roundUp returns n rounded up to a power of 4. This keeps the number of different statements small, because every
// connection prepares each of them once.
func roundUp(n int) int {
	size := 1
	for size < n {
		size *= 4
	}
	return size
}

func (a *readAhead) questionLookups(r Reader, want ReadAhead) []lookup {
	out := []lookup{rowAndTaskLookup(r, a, &a.questions, r.questionRow, questionID, questionAndTask, want.Question)}
	if want.Events {
		out = append(out, lookup{sql: eventsOfQuestionSQL(taskOfQuestion), args: []any{r.workspace, want.Question}, scanRows: func(rs rows) error {
			found := []*fermata.Event{}
			err := scanInto(&found, r.scanEvent, "").scanRows(rs)
			if a.events == nil {
				a.events = map[string][]*fermata.Event{}
			}
			a.events[want.Question] = found
			return err
		}})
	}
	if want.HandOver {
		out = append(out, a.handOverLookupsOf(r, taskOfQuestion, want.Question, func() string {
			// The question was read by the first look-up.
			if q := a.questions[want.Question]; q != nil {
				return q.TaskID
			}
			return ""
		})...)
	}
	return out
}

const taskOfQuestion = "(SELECT task_id FROM questions WHERE workspace_id = $1 AND id = $2)"

const taskOfRun = "(SELECT task_id FROM runs WHERE workspace_id = $1 AND id = $2)"

func (a *readAhead) runLookups(r Reader, want ReadAhead) []lookup {
	out := []lookup{rowAndTaskLookup(r, a, &a.runs, r.runRow, runID, runAndTask, want.Run)}
	if want.TaskEnd {
		out = append(out, lookup{sql: taskEndSQL(taskOfRun), args: []any{r.workspace, want.Run}, scanRows: func(rs rows) error {
			var links []endLink
			err := scanInto(&links, scanEndLink, "").scanRows(rs)
			if a.endLinks == nil {
				a.endLinks = map[string][]endLink{}
			}
			a.endLinks[want.Run] = links
			return err
		}})
	}
	return out
}

var (
	runAndTask      = rowAndTaskSQL("runs", runColumns)
	questionAndTask = rowAndTaskSQL("questions", questionColumns)
)

// rowAndTaskSQL returns the query for a row and its task. A subquery reads the task's id first, as a value. A join with a
// column would be slow: if the table was small when the query was planned, PostgreSQL would read all tasks of the
// workspace.
func rowAndTaskSQL(table, columns string) string {
	return "SELECT " + qualifyColumns("x", columns) + ", " + qualifyColumns("t", taskColumns) + " FROM " + table + " x CROSS JOIN tasks t" +
		" WHERE x.workspace_id = $1 AND x.id = $2 AND t.workspace_id = $1" +
		" AND t.id = (SELECT task_id FROM " + table + " WHERE workspace_id = $1 AND id = $2)"
}

// rowAndTaskLookup returns a look-up of one row that belongs to a task, and of this task.
func rowAndTaskLookup[T any](r Reader, a *readAhead, into *map[string]*T, row func() ([]any, func() (*T, error)), idOf func(*T) string,
	sql, id string,
) lookup {
	return lookup{sql: sql, args: []any{r.workspace, id}, scanRows: func(rs rows) error {
		for rs.Next() {
			dest, build := row()
			taskDest, buildTask := r.taskRow()
			if err := rs.Scan(append(dest, taskDest...)...); err != nil {
				return err
			}
			v, err := build()
			if err != nil {
				return err
			}
			t, err := buildTask()
			if err != nil {
				return err
			}
			put(into, idOf, v)
			put(&a.tasks, taskID, t)
		}
		return rs.Err()
	}}
}

// qualifyColumns returns the columns with the name of the table before each.
func qualifyColumns(table, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = table + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

func put[T any](into *map[string]*T, idOf func(*T) string, v *T) {
	if *into == nil {
		*into = map[string]*T{}
	}
	(*into)[idOf(v)] = v
}

func taskID(t *fermata.Task) string         { return t.ID }
func questionID(q *fermata.Question) string { return q.ID }
func runID(run *fermata.Run) string         { return run.ID }
func deliveryID(d *fermata.Delivery) string { return d.ID }

// takeRow returns a row that was read ahead, and removes it, because two callers must not share it. It returns nil for a
// row about which this transaction has written since, also by the ids of related rows; the caller then reads the row again.
func takeRow[T any](tx *Tx, from map[string]*T, id string, relatedIDs func(*T) []string) *T {
	v := from[id]
	if v == nil || tx.isStale(id) || slices.ContainsFunc(relatedIDs(v), tx.isStale) {
		return nil
	}
	delete(from, id)
	return v
}

// noOthers returns the related ids of a row that has none.
func noOthers[T any](*T) []string { return nil }

// everyRow is marked as stale by a write into many rows whose ids are not known.
const everyRow = "every row"

// isStale reports whether rows about the id were written in this transaction.
func (tx *Tx) isStale(id string) bool {
	return tx.stale[id] || tx.stale[everyRow] || tx.g.readAhead.stale[id] || tx.g.readAhead.stale[everyRow]
}

// Task returns the task with the id.
func (tx *Tx) Task(id string) (*fermata.Task, error) {
	if t := takeRow(tx, tx.g.readAhead.tasks, id, noOthers[fermata.Task]); t != nil {
		return t, nil
	}
	return tx.Reader.Task(id)
}

// Question returns the question with the id.
func (tx *Tx) Question(id string) (*fermata.Question, error) {
	if q := takeRow(tx, tx.g.readAhead.questions, id, func(q *fermata.Question) []string { return []string{q.TaskID} }); q != nil {
		return q, nil
	}
	return tx.Reader.Question(id)
}

// EventsOfQuestion is [Reader.EventsOfQuestion], but includes the events that this caller and earlier callers of the
// same transaction have appended.
func (tx *Tx) EventsOfQuestion(q *fermata.Question) ([]*fermata.Event, error) {
	events, ok := tx.g.readAhead.events[q.ID]
	if !ok {
		var err error
		if events, err = tx.Reader.EventsOfQuestion(q); err != nil {
			return nil, err
		}
	}
	for _, e := range slices.Concat(tx.g.events, tx.events) {
		if e.QuestionID == q.ID {
			events = append(slices.Clip(events), e)
		}
	}
	return events, nil
}

// Run returns the run with the id.
func (tx *Tx) Run(id string) (*fermata.Run, error) {
	if run := takeRow(tx, tx.g.readAhead.runs, id, noOthers[fermata.Run]); run != nil {
		return run, nil
	}
	return tx.Reader.Run(id)
}

// DeliveriesByID is [Reader.DeliveriesByID].
func (tx *Tx) DeliveriesByID(ids []string) ([]*fermata.Delivery, error) {
	found := make([]*fermata.Delivery, 0, len(ids))
	for _, id := range ids {
		d := takeRow(tx, tx.g.readAhead.deliveries, id, func(d *fermata.Delivery) []string {
			return []string{d.ChannelID, d.QuestionID}
		})
		if d == nil {
			return tx.Reader.DeliveriesByID(ids)
		}
		found = append(found, d)
	}
	sortByID(found, deliveryID)
	return found, nil
}

// AffectedByTaskEnd is [Reader.AffectedByTaskEnd] for the task of a run.
func (tx *Tx) AffectedByTaskEnd(taskID, runID string) (questions, dependents []string, err error) {
	links, ok := tx.g.readAhead.endLinks[runID]
	if ok && !tx.isStale(taskID) {
		questions, dependents = splitLinks(links)
		return questions, dependents, nil
	}
	return tx.Reader.AffectedByTaskEnd(taskID)
}

// NextClaimable is [Reader.NextClaimable]. A task that was read ahead can be used while no caller of the transaction
// has written about it. The order of callers that share a transaction is not defined, so each may get any of these
// tasks.
func (tx *Tx) NextClaimable(c Claimable) (*fermata.Task, error) {
	key := claimKey(c)
	for len(tx.g.readAhead.claims[key]) > 0 {
		t := tx.g.readAhead.claims[key][0]
		tx.g.readAhead.claims[key] = tx.g.readAhead.claims[key][1:]
		if !tx.isStale(t.ID) {
			return t, nil
		}
	}
	return tx.Reader.NextClaimable(c)
}

// markStale marks the ids as written about in this transaction.
func (tx *Tx) markStale(ids ...string) {
	if tx.stale == nil {
		tx.stale = map[string]bool{}
	}
	for _, id := range ids {
		tx.stale[id] = true
	}
}

// claimKey returns a text that is different for different selections.
func claimKey(c Claimable) string { return columnText(c) }
