package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// QuestionFilter narrows a list of questions.
type QuestionFilter struct {
	Status, Type, Project, Assignee, TaskID, Q string
	Urgency, Risk, Label, Sort                 string
	// Mine selects the questions that wait for an answer of the caller, without those that
	// the caller snoozed.
	Mine bool
	// Snoozed selects the questions that the caller snoozed.
	Snoozed bool

	Limit  int
	Cursor string
}

// maxScanned is how many questions one page reads for filters that the
// database cannot apply. A page that stops there has a cursor to continue.
const maxScanned = 5000

// query returns the filter for the store.
func (f QuestionFilter) query(c fermata.Caller) store.QuestionFilter {
	query := store.QuestionFilter{
		Status: f.Status, Type: f.Type, Project: f.Project, Assignee: f.Assignee, TaskID: f.TaskID, Text: f.Q,
		Urgency: fermata.Urgency(f.Urgency), Risk: f.Risk, Label: f.Label, Sort: store.QuestionSort(f.Sort),
	}
	if f.Mine {
		query.AwaitsAnswerOf = &c
	}
	if f.Mine || f.Snoozed {
		query.Snooze = store.Snooze{Member: c.MemberID, OnlySnoozed: f.Snoozed}
	}
	return query
}

// matches reports whether a question from the database belongs to the list.
func (f QuestionFilter) matches(q *fermata.Question, c fermata.Caller) bool {
	return (!f.Mine || q.AwaitsAnswerOf(c)) && (f.Q == "" || q.ContainsText(f.Q))
}

// Questions lists questions. Without a sort order, pending ones come with the
// most urgent first and others with the newest first. It also returns the
// cursor of the next page. A page may be shorter than its limit.
func (e *Engine) Questions(ctx context.Context, c fermata.Caller, f QuestionFilter) ([]*fermata.Question, string, error) {
	if err := c.CheckPermission(fermata.ToReadQuestions, fermata.UnloadedResource); err != nil {
		return nil, "", err
	}
	if f.TaskID != "" {
		id, err := e.taskID(ctx, c, f.TaskID)
		if err != nil {
			return nil, "", err
		}
		f.TaskID = id
	}
	if f.Sort == fermata.SortInbox && f.Status != string(fermata.Pending) {
		return nil, "", fermata.Invalid(fermata.Problem{Field: "sort", Message: "is inbox, the order of pending questions: add status=pending"})
	}
	list := cursorOf("questions", f.Cursor, f)
	var from inboxPosition
	if err := list.read(&from); err != nil {
		return nil, "", err
	}
	query := f.query(c)
	if f.Mine && !c.CanAnswer() || f.Snoozed && c.MemberID == "" {
		return nil, "", nil
	}
	if err := e.setQueryTime(ctx, &query); err != nil {
		return nil, "", err
	}
	found, end, err := e.collect(ctx, e.listReader(ctx, c), c, f, query, from)
	if err != nil || end == nil {
		return found, "", err
	}
	return found, list.write(*end), nil
}

// setQueryTime sets the present time in a query that leaves out or selects snoozed questions.
func (e *Engine) setQueryTime(ctx context.Context, query *store.QuestionFilter) error {
	if query.Snooze.Member == "" {
		return nil
	}
	now, err := e.db.Now(ctx)
	query.Snooze.Now = now
	return err
}

// collectPage collects a page of questions. It also returns where the next page
// begins, or nil at the end.
func collectPage(r store.Reader, c fermata.Caller, f QuestionFilter, query store.QuestionFilter) ([]*fermata.Question, *store.QuestionPosition, error) {
	want := pageSize(f.Limit)
	query.Limit = want + 1
	if query.IsSlow() {
		var err error
		if query.Until, err = r.PositionOfNth(query, maxCounted); err != nil {
			return nil, nil, err
		}
	}
	var found []*fermata.Question
	for scanned := 0; scanned < maxScanned; {
		rows, err := r.Questions(query)
		if err != nil {
			return nil, nil, err
		}
		if err := fillQuestions(r, c, rows); err != nil {
			return nil, nil, err
		}
		for _, q := range rows {
			if !f.matches(q, c) {
				continue
			}
			if len(found) == want {
				end := store.QuestionPositionOf(found[want-1])
				return found, &end, nil
			}
			found = append(found, q.ViewFor(c))
		}
		if len(rows) < query.Limit {
			return found, query.Until, nil
		}
		scanned += len(rows)
		query.After = store.QuestionPositionOf(rows[len(rows)-1])
		query.Limit = maxPage
	}
	return found, &query.After, nil
}

// fillQuestions adds the fields that only people see on a question.
func fillQuestions(r store.Reader, c fermata.Caller, questions []*fermata.Question) error {
	if c.Kind != fermata.ActorHuman {
		return nil
	}
	details, err := r.QuestionDetails(questions, c.MemberID)
	if err != nil {
		return err
	}
	for _, q := range questions {
		q.TaskTitle, q.TaskAgent = details.Titles[q.TaskID], details.Agents[q.TaskID]
		if until, ok := details.Snoozed[q.ID]; ok {
			q.SnoozedUntil = &until
		}
		if q.Status != fermata.Pending && q.Status != fermata.TimedOut {
			continue
		}
		q.NeedsSignature = q.MustBeSigned()
		q.Answerable = new(q.CheckMayAnswer(c) == nil)
		if q.Status != fermata.Pending {
			continue
		}
		q.WaitingWork = &fermata.WaitingWork{Since: q.CreatedAt}
		if q.Type.Suspends() && details.States[q.TaskID].IsSuspended() {
			q.WaitingWork.Tasks = 1 + details.Blocked[q.TaskID]
		}
	}
	return nil
}

// maxCounted is the largest number of questions that one count includes. A slow
// query reads at most as many for one page.
const maxCounted = 10_000

// QuestionCounts counts pending questions, by type and by project.
func (e *Engine) QuestionCounts(ctx context.Context, c fermata.Caller, f QuestionFilter) (fermata.QuestionCounts, error) {
	counts := fermata.QuestionCounts{ByType: map[fermata.QuestionType]int{}, ByProject: map[string]int{}}
	if err := c.CheckPermission(fermata.ToReadQuestions, fermata.UnloadedResource); err != nil {
		return counts, err
	}
	if f.Mine && !c.CanAnswer() {
		return counts, nil
	}
	f.Status, f.Sort, f.Snoozed = string(fermata.Pending), "", false
	query := f.query(c)
	query.Limit = maxCounted + 1
	if err := e.setQueryTime(ctx, &query); err != nil {
		return counts, err
	}
	r := e.listReader(ctx, c)
	var err error
	if query.IsSlow() {
		if query.Until, err = r.PositionOfNth(query, maxCounted); err != nil {
			return counts, err
		}
	}
	found, err := r.CountQuestions(query)
	if err != nil {
		return counts, err
	}
	for _, n := range found {
		counts.Pending += n.N
		counts.ByType[n.Type] += n.N
		counts.ByProject[n.Project] += n.N
		if n.Type.Urgency() == fermata.UrgencyHigh {
			counts.Urgent += n.N
		}
	}
	counts.Capped = counts.Pending > maxCounted || query.Until != nil
	counts.Snoozed, err = e.countSnoozed(ctx, c, f)
	return counts, err
}

// countSnoozed counts the questions that the caller snoozed.
func (e *Engine) countSnoozed(ctx context.Context, c fermata.Caller, f QuestionFilter) (int, error) {
	if c.MemberID == "" {
		return 0, nil
	}
	f.Snoozed = true
	query := f.query(c)
	query.Limit = maxCounted
	if err := e.setQueryTime(ctx, &query); err != nil {
		return 0, err
	}
	found, err := e.listReader(ctx, c).CountQuestions(query)
	total := 0
	for _, n := range found {
		total += n.N
	}
	return total, err
}
