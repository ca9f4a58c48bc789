package store

import "github.com/fermata-hq/fermata"

// Ahead names rows that a write will read, so that they come with the first
// round trip of its transaction. It changes nothing but the speed.
type Ahead struct {
	// Task is the id of a task.
	Task string
	// Question is the id of a question; its task comes with it.
	Question string
	// Run is the id of a run; its task comes with it.
	Run string
	// Ends also reads what the end of the run's task concerns.
	Ends bool
	// Claim reads the task that the request would get.
	Claim *fermata.ClaimRequest
}

// ahead holds what was read when the transaction began, until somebody takes
// it or a write of another caller in the same transaction makes it stale.
type ahead struct {
	tasks     map[string]*fermata.Task
	questions map[string]*fermata.Question
	runs      map[string]*fermata.Run
	ends      map[string][]link
	// claims are in the order of claims, by the text of the request.
	claims map[string][]*fermata.Task
	// touched are the ids that a caller of the transaction has written.
	touched map[string]bool
}

// lookups returns what to read for the calls of a group.
func (a *ahead) lookups(r Reader, calls []*call) []lookup {
	var out []lookup
	for _, c := range calls {
		for _, want := range c.ahead {
			out = append(out, a.lookupsFor(r, want)...)
		}
	}
	return append(out, a.claimLookups(r, calls)...)
}

func (a *ahead) lookupsFor(r Reader, want Ahead) []lookup {
	switch {
	case want.Task != "":
		return []lookup{a.taskLookup(r, "id = $2", want.Task)}
	case want.Question != "":
		return []lookup{
			a.taskLookup(r, "id = (SELECT task_id FROM questions WHERE workspace_id = $1 AND id = $2)", want.Question),
			keep(&a.questions, r.scanQuestion, func(q *fermata.Question) string { return q.ID }, questionByID, r.workspace, want.Question),
		}
	case want.Run != "":
		return a.runLookups(r, want)
	}
	return nil
}

// claimLookups reads as many claimable tasks as the group has claims of a kind.
func (a *ahead) claimLookups(r Reader, calls []*call) []lookup {
	requests, counts := map[string]fermata.ClaimRequest{}, map[string]int{}
	for _, c := range calls {
		for _, want := range c.ahead {
			if want.Claim != nil {
				key := claimKey(*want.Claim)
				requests[key] = *want.Claim
				counts[key]++
			}
		}
	}
	var out []lookup
	for key, request := range requests {
		sql, args := r.claimable(request, roundUp(counts[key]))
		out = append(out, lookup{sql: sql, args: args, take: func(rs rows) error {
			var found []*fermata.Task
			err := into(&found, r.scanTask, "").take(rs)
			if a.claims == nil {
				a.claims = map[string][]*fermata.Task{}
			}
			a.claims[key] = received(found)
			return err
		}})
	}
	return out
}

// roundUp keeps the number of different statements small: each is prepared
// once a connection.
func roundUp(n int) int {
	size := 1
	for size < n {
		size *= 4
	}
	return size
}

const taskOfRun = "(SELECT task_id FROM runs WHERE workspace_id = $1 AND id = $2)"

func (a *ahead) runLookups(r Reader, want Ahead) []lookup {
	out := []lookup{
		keep(&a.runs, r.scanRun, func(run *fermata.Run) string { return run.ID }, runByID, r.workspace, want.Run),
		a.taskLookup(r, "id = "+taskOfRun, want.Run),
	}
	if want.Ends {
		out = append(out, lookup{sql: endsOf(taskOfRun), args: []any{r.workspace, want.Run}, take: func(rs rows) error {
			var links []link
			err := into(&links, scanLink, "").take(rs)
			if a.ends == nil {
				a.ends = map[string][]link{}
			}
			a.ends[want.Run] = links
			return err
		}})
	}
	return out
}

func (a *ahead) taskLookup(r Reader, where string, id string) lookup {
	return keep(&a.tasks, r.scanTask, func(t *fermata.Task) string { return t.ID },
		"SELECT "+taskColumns+" FROM tasks WHERE workspace_id = $1 AND "+where, r.workspace, id)
}

// keep is a look-up that puts its rows into a map.
func keep[T any](into *map[string]*T, scan func(rows) (*T, error), id func(*T) string, sql string, args ...any) lookup {
	return lookup{sql: sql, args: args, take: func(rs rows) error {
		if *into == nil {
			*into = map[string]*T{}
		}
		for rs.Next() {
			v, err := scan(rs)
			if err != nil {
				return err
			}
			(*into)[id(v)] = v
		}
		return rs.Err()
	}}
}

// take hands out what was read ahead, once: two callers must not share it.
// What was written since is read again.
func take[T any](tx *Tx, from map[string]*T, id string, about func(*T) string) *T {
	v := from[id]
	if v == nil || tx.stale(id) || tx.stale(about(v)) {
		return nil
	}
	delete(from, id)
	return v
}

// stale reports whether rows about the id were written in this transaction.
func (tx *Tx) stale(id string) bool { return tx.touched[id] || tx.g.ahead.touched[id] }

// Task returns the task with the id.
func (tx *Tx) Task(id string) (*fermata.Task, error) {
	if t := take(tx, tx.g.ahead.tasks, id, func(t *fermata.Task) string { return t.ID }); t != nil {
		return t, nil
	}
	return tx.Reader.Task(id)
}

// Question returns the question with the id.
func (tx *Tx) Question(id string) (*fermata.Question, error) {
	if q := take(tx, tx.g.ahead.questions, id, func(q *fermata.Question) string { return q.TaskID }); q != nil {
		return q, nil
	}
	return tx.Reader.Question(id)
}

// Run returns the run with the id.
func (tx *Tx) Run(id string) (*fermata.Run, error) {
	if run := take(tx, tx.g.ahead.runs, id, func(run *fermata.Run) string { return run.ID }); run != nil {
		return run, nil
	}
	return tx.Reader.Run(id)
}

// Ends is [Reader.Ends] for the task of a run.
func (tx *Tx) Ends(taskID, runID string) (questions, dependents []string, err error) {
	links, ok := tx.g.ahead.ends[runID]
	if ok && !tx.stale(taskID) {
		questions, dependents = split(links)
		return questions, dependents, nil
	}
	return tx.Reader.Ends(taskID)
}

// Claimable is [Reader.Claimable]. A task that was read ahead is as good while
// nobody in the transaction has written about it: callers who come together
// have no order among them.
func (tx *Tx) Claimable(c fermata.ClaimRequest) (*fermata.Task, error) {
	key := claimKey(c)
	for len(tx.g.ahead.claims[key]) > 0 {
		t := tx.g.ahead.claims[key][0]
		tx.g.ahead.claims[key] = tx.g.ahead.claims[key][1:]
		if !tx.stale(t.ID) {
			return t, nil
		}
	}
	return tx.Reader.Claimable(c)
}

// touch notes that rows about the ids are being written.
func (tx *Tx) touch(ids ...string) {
	if tx.touched == nil {
		tx.touched = map[string]bool{}
	}
	for _, id := range ids {
		tx.touched[id] = true
	}
}

func claimKey(c fermata.ClaimRequest) string {
	return text([][]string{c.Runners, c.Projects, c.Agents})
}
