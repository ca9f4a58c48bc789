package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// insertClosing records for analytics how a question ended. The row of the
// question decides whether it closes, so a conflict in this table never makes
// the write fail.
func (tx *Tx) insertClosing(q *fermata.Question) {
	r := q.Resolution
	responder := ""
	if r.AnsweredBy != nil {
		responder = r.AnsweredBy.ID
	}
	tx.execAny(insertClosingSQL, tx.workspace, q.CreatedAt.UnixMilli(), q.ID, r.At.UnixMilli(), q.Project, string(q.Type),
		string(q.Status), string(r.DecidedBy), responder, r.Channel, fermata.TitlePattern(q.Title))
}

const insertClosingSQL = `INSERT INTO closings (workspace_id, asked_at, question_id, closed_at, project, type, status, decided_by,
	responder, channel, alike) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
	ON CONFLICT (workspace_id, asked_at, question_id) DO NOTHING`

// Dimension is the property by which analytics group questions.
type Dimension string

// Dimensions of analytics.
const (
	ByNothing   Dimension = ""
	ByType      Dimension = "type"
	ByProject   Dimension = "project"
	ByResponder Dimension = "responder"
	ByChannel   Dimension = "channel"
	ByAlike     Dimension = "alike"
)

// expression returns the dimension as a text expression in SQL.
func (d Dimension) expression() string {
	if d == ByNothing {
		return "''"
	}
	return string(d)
}

// ClosingFilter narrows the questions to count, and says how to group them.
type ClosingFilter struct {
	// Asked is the period in which the questions were asked.
	Asked   fermata.Period
	Project string
	Type    string
	// GroupBy is the dimension of the groups.
	GroupBy Dimension
	// Step also groups the questions by the time at which they were asked, in
	// steps of this length from the beginning of the period. 0 makes one step.
	Step time.Duration
	// Alike keeps the questions with these title patterns (see
	// [fermata.TitlePattern]); nil keeps all.
	Alike []string
	// OnlyPeople keeps the questions that people answered.
	OnlyPeople bool
}

// conditions returns the conditions on the table of questions or of closings.
// asked names the column with the time of asking.
func (f ClosingFilter) conditions(r Reader, asked string) *whereClause {
	w := r.newWhereClause()
	w.add(asked+" >= $%d", f.Asked.From.UnixMilli())
	w.add(asked+" < $%d", f.Asked.To.UnixMilli())
	w.addEqual("project", f.Project)
	w.addVisible(r.visible, "project")
	w.addEqual("type", f.Type)
	if f.Alike != nil {
		w.addIn("alike", f.Alike)
	}
	if f.OnlyPeople {
		w.conditions = append(w.conditions, answeredByPeople)
	}
	return w
}

// stepExpression returns the SQL expression for the number of the step in which a
// question was asked.
func (f ClosingFilter) stepExpression(w *whereClause, asked string) string {
	if f.Step <= 0 {
		return "0"
	}
	w.args = append(w.args, f.Asked.From.UnixMilli(), f.Step.Milliseconds())
	return fmt.Sprintf("(%s - $%d) / $%d", asked, len(w.args)-1, len(w.args))
}

const answeredByPeople = "status = 'answered' AND decided_by = 'human'"

// ClosingCount is the number of questions of one group that ended in the same
// way.
type ClosingCount struct {
	// Key is the value of the dimension; Step is the number of the step.
	Key       string
	Step      int64
	Status    fermata.QuestionStatus
	DecidedBy fermata.ActorKind
	// AnswerTime is the time from the question to a person's answer, cut to the first
	// three digits of its milliseconds. It is 0 if no person answered.
	AnswerTime time.Duration
	N          int64
}

func scanClosingCount(rs rows) (ClosingCount, error) {
	var c ClosingCount
	var status, decidedBy string
	var millis int64
	err := rs.Scan(&c.Key, &c.Step, &status, &decidedBy, &millis, &c.N)
	c.Status, c.DecidedBy = fermata.QuestionStatus(status), fermata.ActorKind(decidedBy)
	c.AnswerTime = time.Duration(millis) * time.Millisecond
	return c, err
}

// threeDigits returns the SQL that cuts a number of milliseconds to its first
// three digits. This bounds the number of different answer times, however many
// questions there are, so that the database can count each time.
func threeDigits(number string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "CASE WHEN %[1]s < 0 THEN 0 WHEN %[1]s < 1000 THEN %[1]s", number)
	for unit := int64(10); unit <= 1_000_000_000; unit *= 10 {
		fmt.Fprintf(&sb, " WHEN %[1]s < %[2]d THEN %[1]s / %[3]d * %[3]d", number, unit*1000, unit)
	}
	sb.WriteString(" ELSE 1000000000000 END")
	return sb.String()
}

// ClosingCounts counts the closed questions. The dimension and the precision of
// the answer times bound the size of the result, and the number of questions
// does not.
func (r Reader) ClosingCounts(f ClosingFilter) ([]ClosingCount, error) {
	w := f.conditions(r, "asked_at")
	took := "CASE WHEN " + answeredByPeople + " THEN " + threeDigits("(closed_at - asked_at)") + " ELSE 0 END"
	return list(r, scanClosingCount, "SELECT "+f.GroupBy.expression()+", "+f.stepExpression(w, "asked_at")+", status, decided_by, "+took+
		", count(*) FROM closings WHERE "+w.sql()+" GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2", w.args...)
}

// PendingCounts counts the pending questions. They have no responder, channel
// or title pattern to group by, and the filter must not set Alike or
// OnlyPeople.
func (r Reader) PendingCounts(f ClosingFilter) ([]ClosingCount, error) {
	w := f.conditions(r, "created_at")
	return list(r, scanClosingCount, "SELECT "+f.GroupBy.expression()+", "+f.stepExpression(w, "created_at")+
		", 'pending', '', 0, count(*) FROM questions WHERE status = 'pending' AND "+w.sql()+" GROUP BY 1, 2 ORDER BY 1, 2", w.args...)
}

// CommonQuestion is a title pattern, and the number of closed questions that
// have it.
type CommonQuestion struct {
	Alike string
	N     int64
	// Newest is the id of the question that was asked last.
	Newest string
}

// MostCommonQuestions lists the title patterns that most closed questions have,
// the most frequent first.
func (r Reader) MostCommonQuestions(f ClosingFilter, limit int) ([]CommonQuestion, error) {
	w := f.conditions(r, "asked_at")
	return list(r, func(rs rows) (CommonQuestion, error) {
		var c CommonQuestion
		return c, rs.Scan(&c.Alike, &c.N, &c.Newest)
	}, "SELECT alike, count(*), max(question_id) FROM closings WHERE "+w.sql()+
		fmt.Sprintf(" GROUP BY alike ORDER BY count(*) DESC, alike LIMIT %d", limit), w.args...)
}

// CountClosings returns the number of closed questions that the filter keeps.
func (r Reader) CountClosings(f ClosingFilter) (int64, error) {
	w := f.conditions(r, "asked_at")
	return scanOne(r, "count", "", func(rs rows) (int64, error) {
		var n int64
		return n, rs.Scan(&n)
	}, "SELECT count(*) FROM closings WHERE "+w.sql(), w.args...)
}
