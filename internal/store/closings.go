package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// insertClosing notes for analytics how a question ended. Its own row decides
// whether it did: this one is never a reason to refuse.
func (tx *Tx) insertClosing(q *fermata.Question) {
	r := q.Resolution
	responder := ""
	if r.AnsweredBy != nil {
		responder = r.AnsweredBy.ID
	}
	tx.execAny(insertClosing, tx.workspace, q.CreatedAt.UnixMilli(), q.ID, r.At.UnixMilli(), q.Project, string(q.Type),
		string(q.Status), string(r.DecidedBy), responder, r.Channel, fermata.Alike(q.Title))
}

const insertClosing = `INSERT INTO closings (workspace_id, asked_at, question_id, closed_at, project, type, status, decided_by,
	responder, channel, alike) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
	ON CONFLICT (workspace_id, asked_at, question_id) DO NOTHING`

// Dimension is what analytics tell questions apart by.
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

// expression is the dimension as a text in SQL.
func (d Dimension) expression() string {
	if d == ByNothing {
		return "''"
	}
	return string(d)
}

// ClosingFilter says which questions to count, and how to tell them apart.
type ClosingFilter struct {
	// Asked bounds when they were asked.
	Asked   fermata.Period
	Project string
	Type    string
	// By is what they are told apart by.
	By Dimension
	// Step also tells them apart by when they were asked: in which step of this
	// length from the beginning of the period. 0 does not.
	Step time.Duration
	// Alike keeps the questions of these words; nil keeps all.
	Alike []string
	// People keeps what people answered.
	People bool
}

// conditions are those of the table of questions or of closings.
func (f ClosingFilter) conditions(r Reader, asked string) *filter {
	w := r.newFilter()
	w.add(asked+" >= $%d", f.Asked.From.UnixMilli())
	w.add(asked+" < $%d", f.Asked.To.UnixMilli())
	w.equal("project", f.Project)
	w.addVisible(r.visible, "project")
	w.equal("type", f.Type)
	if f.Alike != nil {
		w.addIn("alike", f.Alike)
	}
	if f.People {
		w.conditions = append(w.conditions, answeredByPeople)
	}
	return w
}

// step is the number of the step in which a question was asked.
func (f ClosingFilter) step(w *filter, asked string) string {
	if f.Step <= 0 {
		return "0"
	}
	w.args = append(w.args, f.Asked.From.UnixMilli(), f.Step.Milliseconds())
	return fmt.Sprintf("(%s - $%d) / $%d", asked, len(w.args)-1, len(w.args))
}

const answeredByPeople = "status = 'answered' AND decided_by = 'human'"

// ClosingCount is how many questions ended alike.
type ClosingCount struct {
	// Key is the dimension, Step the number of the step.
	Key       string
	Step      int64
	Status    fermata.QuestionStatus
	DecidedBy fermata.ActorKind
	// Took is from asking to a person's answer, cut to three digits of its
	// milliseconds; 0 where no person answered.
	Took time.Duration
	N    int64
}

func scanClosingCount(rs rows) (ClosingCount, error) {
	var c ClosingCount
	var status, decidedBy string
	var millis int64
	err := rs.Scan(&c.Key, &c.Step, &status, &decidedBy, &millis, &c.N)
	c.Status, c.DecidedBy = fermata.QuestionStatus(status), fermata.ActorKind(decidedBy)
	c.Took = time.Duration(millis) * time.Millisecond
	return c, err
}

// threeDigits cuts a number of milliseconds to its first three digits, in SQL:
// so many different lengths there are at most, however many questions there
// are, and the database can count each.
func threeDigits(number string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "CASE WHEN %[1]s < 0 THEN 0 WHEN %[1]s < 1000 THEN %[1]s", number)
	for unit := int64(10); unit <= 1_000_000_000; unit *= 10 {
		fmt.Fprintf(&sb, " WHEN %[1]s < %[2]d THEN %[1]s / %[3]d * %[3]d", number, unit*1000, unit)
	}
	sb.WriteString(" ELSE 1000000000000 END")
	return sb.String()
}

// Closings counts the questions that have closed. What comes back is bounded
// by the dimension and by how finely lengths are told apart, not by the number
// of questions.
func (r Reader) Closings(f ClosingFilter) ([]ClosingCount, error) {
	w := f.conditions(r, "asked_at")
	took := "CASE WHEN " + answeredByPeople + " THEN " + threeDigits("(closed_at - asked_at)") + " ELSE 0 END"
	return list(r, scanClosingCount, "SELECT "+f.By.expression()+", "+f.step(w, "asked_at")+", status, decided_by, "+took+
		", count(*) FROM closings WHERE "+w.sql()+" GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2", w.args...)
}

// Pendings counts the questions that are still open. They are not told apart
// by responder, channel and words, and not narrowed by the last two.
func (r Reader) Pendings(f ClosingFilter) ([]ClosingCount, error) {
	w := f.conditions(r, "created_at")
	return list(r, scanClosingCount, "SELECT "+f.By.expression()+", "+f.step(w, "created_at")+
		", 'pending', '', 0, count(*) FROM questions WHERE status = 'pending' AND "+w.sql()+" GROUP BY 1, 2 ORDER BY 1, 2", w.args...)
}

// Common is a question that was asked again and again.
type Common struct {
	Alike string
	N     int64
	// Newest is the id of the one that was asked last.
	Newest string
}

// MostCommon lists the words in which most of the closed questions were asked.
func (r Reader) MostCommon(f ClosingFilter, limit int) ([]Common, error) {
	w := f.conditions(r, "asked_at")
	return list(r, func(rs rows) (Common, error) {
		var c Common
		return c, rs.Scan(&c.Alike, &c.N, &c.Newest)
	}, "SELECT alike, count(*), max(question_id) FROM closings WHERE "+w.sql()+
		fmt.Sprintf(" GROUP BY alike ORDER BY count(*) DESC, alike LIMIT %d", limit), w.args...)
}

// CountClosings returns how many questions have closed.
func (r Reader) CountClosings(f ClosingFilter) (int64, error) {
	w := f.conditions(r, "asked_at")
	return scanOne(r, "count", "", func(rs rows) (int64, error) {
		var n int64
		return n, rs.Scan(&n)
	}, "SELECT count(*) FROM closings WHERE "+w.sql(), w.args...)
}
