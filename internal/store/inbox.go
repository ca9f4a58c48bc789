package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// QuestionFilter narrows a list of questions.
type QuestionFilter struct {
	Status   string
	Type     string
	Project  string
	Assignee string
	TaskID   string
	Urgency  fermata.Urgency
	Risk     string
	// Label is a label of the question's task.
	Label string
	// Text is searched in the texts that people read. The list may contain a few questions that do not match, but
	// never misses one that does. See [fermata.Question.ContainsText].
	Text string
	// AwaitsAnswerOf keeps the questions that wait for an answer of the caller.
	AwaitsAnswerOf *fermata.Caller
	// DueUntil keeps the questions whose deadline is at this instant or before. DueAfter keeps those whose deadline is later,
	// and those without one. Both are ignored if zero.
	DueUntil, DueAfter time.Time
	// AskedBefore keeps the questions that were asked before this instant, AskedFrom the others. Both are ignored if zero.
	AskedBefore, AskedFrom time.Time
	// GraveRisk keeps the questions of this risk, which is high or critical. It is ignored if empty. NotGrave keeps those of a
	// lower risk.
	GraveRisk fermata.Risk
	NotGrave  bool
	// Snooze says how to treat the questions that a member snoozed.
	Snooze Snooze
	Sort   QuestionSort
	Limit  int
	// After is the position after which the list continues; Until is its last possible position, and nil means no bound.
	After QuestionPosition
	Until *QuestionPosition
	// index is the column, project, type or status, through whose index the list is read.
	index string
}

// IsSlow reports whether the database must read every question for this filter. Read such a list in parts; see
// [Reader.PositionOfNth].
func (f QuestionFilter) IsSlow() bool { return f.Text != "" || f.Risk != "" || f.Label != "" }

// Snooze says how a list treats the questions that a member snoozed.
type Snooze struct {
	Member string
	// OnlySnoozed keeps these questions instead of leaving them out.
	OnlySnoozed bool
	Now         time.Time
}

// QuestionSort is the order of a list of questions.
type QuestionSort string

// Orders of questions. The empty order is SortUrgency for pending questions, and SortNewest for all others.
const (
	SortUrgency  QuestionSort = "urgency"
	SortDeadline QuestionSort = "deadline"
	SortNewest   QuestionSort = "newest"
	SortOldest   QuestionSort = "oldest"
	SortProject  QuestionSort = "project"
)

// QuestionPosition is a position in an order of questions: project, priority, deadline, id.
type QuestionPosition struct {
	Project  string `json:"o"`
	Priority int    `json:"p"`
	Deadline int64  `json:"d"`
	ID       string `json:"i"`
}

// QuestionPositionOf returns the position of a question.
func QuestionPositionOf(q *fermata.Question) QuestionPosition {
	return QuestionPosition{Project: q.Project, Priority: q.Priority, Deadline: deadlineColumn(q), ID: q.ID}
}

// Questions lists questions. Pending ones are ordered by urgency and all others by age, newest first, unless the
// filter names another order.
func (r Reader) Questions(f QuestionFilter) ([]*fermata.Question, error) {
	var err error
	if f.index, err = r.indexOfQuestions(f); err != nil {
		return nil, err
	}
	w := r.questionConditions(f)
	order := w.addOrder(f)
	if parts := f.assigneeParts(w); len(parts) > 0 {
		byID := listOrder{desc: f.Sort != SortOldest}
		return list(r, r.scanQuestion, r.firstRows(questionColumns, "questions", byID, parts, f.Limit), w.args...)
	}
	return list(r, r.scanQuestion, "SELECT "+questionColumns+f.from(w)+w.sql()+
		fmt.Sprintf(" ORDER BY %s LIMIT %d", order, f.Limit), w.args...)
}

// questionOrders are the columns of each order.
var questionOrders = map[QuestionSort][]string{
	SortUrgency: {"priority", "deadline", "id"}, SortDeadline: {"deadline", "id"}, SortOldest: {"id"}, SortNewest: {"id"},
	SortProject: {"project", "priority", "deadline", "id"},
}

// addOrder adds the bounds After and Until of the filter as conditions, and returns the ORDER BY columns.
func (w *whereClause) addOrder(f QuestionFilter) string {
	if f.Sort == "" {
		f.Sort = SortNewest
		if f.Status == string(fermata.Pending) {
			f.Sort = SortUrgency
		}
	}
	columns, behind, upTo := questionOrders[f.Sort], ">", "<="
	order := strings.Join(columns, ", ")
	if f.Sort == SortNewest {
		behind, upTo, order = "<", ">=", order+" DESC"
	}
	if f.Sort == SortDeadline && !f.isByAssignee() && f.index == "" {
		// The expression on the workspace makes the database use the index of deadlines, which is in this order.
		w.conditions[0] = "workspace_id || '' = $1"
	}
	if f.After.ID != "" {
		w.addPosition(columns, behind, f.After)
	}
	if f.Until != nil {
		w.addPosition(columns, upTo, *f.Until)
	}
	return order
}

// addPosition adds the condition that compares the columns with a position in their order.
func (w *whereClause) addPosition(columns []string, operator string, p QuestionPosition) {
	values := map[string]any{"project": p.Project, "priority": p.Priority, "deadline": p.Deadline, "id": p.ID}
	parameters := make([]string, 0, len(columns))
	for _, column := range columns {
		w.args = append(w.args, values[column])
		parameters = append(parameters, "$"+strconv.Itoa(len(w.args)))
	}
	w.conditions = append(w.conditions,
		"("+strings.Join(columns, ", ")+") "+operator+" ("+strings.Join(parameters, ", ")+")")
}

func scanPosition(rs rows) (QuestionPosition, error) {
	var p QuestionPosition
	err := rs.Scan(&p.Project, &p.Priority, &p.Deadline, &p.ID)
	return p, err
}

// PositionOfNth returns the position of the n-th question after the filter's position After. It applies only the
// filter's status, task and order. It returns nil if there are fewer than n questions.
func (r Reader) PositionOfNth(f QuestionFilter, n int) (*QuestionPosition, error) {
	all := QuestionFilter{Status: f.Status, TaskID: f.TaskID, Sort: f.Sort, After: f.After}
	w := r.questionConditions(all)
	order := w.addOrder(all)
	found, err := list(r, scanPosition, "SELECT project, priority, deadline, id FROM questions WHERE "+w.sql()+
		fmt.Sprintf(" ORDER BY %s LIMIT 1 OFFSET %d", order, n-1), w.args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// questionConditions returns the conditions of a list of questions.
func (r Reader) questionConditions(f QuestionFilter) *whereClause {
	w := r.newWhereClause()
	switch {
	case f.Status == string(fermata.Pending) && (f.Snooze.OnlySnoozed || f.index != ""):
		// The questions are few, and are found by their ids or by the index of the filter.
		w.conditions = append(w.conditions, "status || '' = 'pending'")
	case f.Status == string(fermata.Pending):
		// The status is a literal in the statement, so that the database uses the inbox's index.
		w.conditions = append(w.conditions, "status = 'pending'")
	case f.index == "status":
		w.add("status || '' = $%d AND "+isUnanswered, f.Status)
	default:
		w.addEqual("status", f.Status)
	}
	if f.index == "type" {
		w.add("type || '' = $%d AND "+isOtherType, f.Type)
	} else {
		w.addEqual("type", f.Type)
	}
	if f.index == "project" {
		w.addIndexed("project", f.Project)
	} else {
		w.addEqual("project", f.Project)
	}
	w.addVisible(r.visible, "project")
	w.addEqual("task_id", f.TaskID)
	if f.Assignee != "" {
		w.addContains("assignees", columnText(f.Assignee))
	}
	switch f.Urgency {
	case fermata.UrgencyHigh:
		w.conditions = append(w.conditions, "type <> 'non_blocking'")
	case fermata.UrgencyLow:
		w.conditions = append(w.conditions, "type = 'non_blocking'")
	}
	if f.Risk != "" {
		// A risk that was not stored is low.
		w.add("coalesce("+w.askedField("risk")+", 'low') = $%d", f.Risk)
	}
	if f.Label != "" {
		w.addTaskCondition(w.d.hasLabel, f.Label)
	}
	w.addSection(f)
	w.addTextSearch(f.Text)
	w.addForCaller(f.AwaitsAnswerOf)
	w.addSnooze(f.Snooze)
	return w
}

// addSection adds the conditions on deadline, age and risk.
func (w *whereClause) addSection(f QuestionFilter) {
	if !f.DueUntil.IsZero() {
		w.add("deadline <= $%d", f.DueUntil.UnixMilli())
	}
	if !f.DueAfter.IsZero() {
		w.add("deadline > $%d", f.DueAfter.UnixMilli())
	}
	// An id begins with the time, so the indexes tell the age of a question.
	if !f.AskedBefore.IsZero() {
		w.add("id < $%d", fermata.FirstID(fermata.PrefixQuestion, f.AskedBefore))
	}
	if !f.AskedFrom.IsZero() {
		w.add("id >= $%d", fermata.FirstID(fermata.PrefixQuestion, f.AskedFrom))
	}
	if f.NotGrave {
		w.conditions = append(w.conditions, "risk NOT IN ('high', 'critical')")
	}
	if f.GraveRisk != "" {
		// The first condition is the one of the index questions_high_risk.
		w.add("risk IN ('high', 'critical') AND risk = $%d", string(f.GraveRisk))
	}
}

// askedField returns the expression for a text within the column asked.
func (w *whereClause) askedField(path ...string) string {
	return fmt.Sprintf(w.d.field, "asked", strings.Join(path, w.d.fieldJoin))
}

// addTaskCondition adds a condition on the question's task, with one parameter.
func (w *whereClause) addTaskCondition(condition string, arg any) {
	w.add("EXISTS (SELECT 1 FROM tasks WHERE tasks.workspace_id = questions.workspace_id AND tasks.id = questions.task_id AND "+
		condition+")", arg)
}

// addTextSearch keeps the questions whose title, task title or column asked contains the text. The column asked is
// searched as stored, so the names of its fields match as well.
func (w *whereClause) addTextSearch(s string) {
	if s == "" {
		return
	}
	kept := columnText(s)
	w.args = append(w.args, likeAnywhere(s), likeAnywhere(kept[1:len(kept)-1]))
	n := len(w.args)
	w.conditions = append(w.conditions, fmt.Sprintf(`(title %[1]s $%[2]d ESCAPE '\' OR asked %[1]s $%[3]d ESCAPE '\' OR
		EXISTS (SELECT 1 FROM tasks WHERE tasks.workspace_id = questions.workspace_id AND tasks.id = questions.task_id
		AND tasks.title %[1]s $%[2]d ESCAPE '\'))`, w.d.like, n-1, n))
}

// addForCaller keeps the questions that wait for an answer of the caller. It approximates
// [fermata.Question.AwaitsAnswerOf], which decides.
func (w *whereClause) addForCaller(c *fermata.Caller) {
	if c == nil {
		return
	}
	either := []string{"assignees = ''"}
	for _, name := range c.AssigneeNames() {
		either = append(either, w.assigneeCondition(name))
	}
	others := c.RolesByProject()
	var elsewhere []string
	var answers []string
	for _, role := range fermata.Roles {
		projects := others[role]
		if len(projects) == 0 {
			continue
		}
		elsewhere = append(elsewhere, projects...)
		if role.AtLeast(fermata.RoleResponder) {
			answers = append(answers, projects...)
		}
		either = append(either, "("+w.assigneeCondition("role:"+string(role))+" AND "+w.amongCondition("project", projects)+")")
	}
	own := w.assigneeCondition("role:" + string(c.Role))
	if len(elsewhere) > 0 {
		own = "(" + own + " AND NOT " + w.amongCondition("project", elsewhere) + ")"
	}
	w.conditions = append(w.conditions, "("+strings.Join(append(either, own), " OR ")+")")
	switch denied := removeAll(elsewhere, answers); {
	case !c.Role.AtLeast(fermata.RoleResponder):
		w.conditions = append(w.conditions, w.amongCondition("project", answers))
	case len(denied) > 0:
		w.conditions = append(w.conditions, "NOT "+w.amongCondition("project", denied))
	}
	if c.MemberID == "" {
		return
	}
	w.args = append(w.args, likeAnywhere(columnText(c.MemberID)))
	w.conditions = append(w.conditions, fmt.Sprintf(`(votes = '' OR votes NOT LIKE $%[1]d ESCAPE '\'
		OR length(votes) - length(replace(votes, '%[2]s', '')) >= %[3]d * CAST(%[4]s AS INTEGER))`,
		len(w.args), approveVote, len(approveVote), w.askedField("approvals", "required")))
	// If approvals is set without self, the asker may not approve. The cheap comparison comes first.
	w.conditions = append(w.conditions, fmt.Sprintf(`NOT (type = 'approval' AND asked LIKE $%[1]d ESCAPE '\'
		AND %[2]s LIKE $%[1]d ESCAPE '\' AND %[3]s IS NOT NULL AND %[4]s IS NULL)`,
		len(w.args), w.askedField("asked_by"), w.askedField("approvals"), w.askedField("approvals", "self")))
}

// approveVote is how the column votes holds the value of a vote that approves. In a comment, its quotes are escaped.
const approveVote = `"value":"approve"`

// assigneeCondition returns the condition that the assignees contain the name.
func (w *whereClause) assigneeCondition(name string) string {
	w.args = append(w.args, likeAnywhere(columnText(name)))
	return fmt.Sprintf(`assignees LIKE $%d ESCAPE '\'`, len(w.args))
}

func removeAll(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// addSnooze leaves out the questions that a member snoozed, or keeps only these.
func (w *whereClause) addSnooze(s Snooze) {
	if s.Member == "" {
		return
	}
	w.args = append(w.args, s.Member, s.Now.UnixMilli())
	n := len(w.args)
	if s.OnlySnoozed {
		w.conditions = append(w.conditions, fmt.Sprintf(w.d.inQuery, "id",
			fmt.Sprintf("SELECT question_id FROM snoozes WHERE workspace_id = $1 AND member_id = $%d AND until_at > $%d", n-1, n)))
		return
	}
	w.conditions = append(w.conditions, fmt.Sprintf(`NOT EXISTS (SELECT 1 FROM snoozes WHERE snoozes.workspace_id = $1
		AND member_id = $%d AND question_id = questions.id AND until_at > $%d)`, n-1, n))
}

// QuestionCount is a number of questions of one type and project.
type QuestionCount struct {
	Type    fermata.QuestionType
	Project string
	N       int
}

func scanQuestionCount(rs rows) (QuestionCount, error) {
	var c QuestionCount
	var typ string
	err := rs.Scan(&typ, &c.Project, &c.N)
	c.Type = fermata.QuestionType(typ)
	return c, err
}

// CountQuestions counts the first questions of a list, up to the filter's limit, by type and project.
func (r Reader) CountQuestions(f QuestionFilter) ([]QuestionCount, error) {
	w := r.questionConditions(f)
	order := w.addOrder(f)
	return list(r, scanQuestionCount, "SELECT type, project, count(*) FROM (SELECT type, project FROM questions WHERE "+w.sql()+
		fmt.Sprintf(" ORDER BY %s LIMIT %d) AS counted GROUP BY type, project", order, f.Limit), w.args...)
}
