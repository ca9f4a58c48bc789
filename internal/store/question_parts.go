package store

import (
	"strings"

	"github.com/fermata-hq/fermata"
)

// isOtherType is the condition of the index of questions by type, and isUnanswered that of the index by status. Nearly
// all other questions are of the type that is left out, or were answered.
const (
	isOtherType  = "type <> 'blocking'"
	isUnanswered = "status IN ('timed_out', 'cancelled')"
)

// indexOfQuestions returns the column of the filter through whose index the list is read. It returns "" if another index
// is shorter: the one of the task, of the assignee, of the pending questions or of the ids.
func (r Reader) indexOfQuestions(f QuestionFilter) (string, error) {
	isPending := f.Status == string(fermata.Pending)
	switch {
	case f.TaskID != "" || f.isByAssignee() || f.Snooze.OnlySnoozed:
		return "", nil
	case !isPending && !f.isInOrderOfIDs():
		return "", nil
	case f.Status == string(fermata.TimedOut) || f.Status == string(fermata.Cancelled):
		return "status", nil
	}
	otherType := f.Type
	if otherType == string(fermata.Blocking) {
		otherType = ""
	}
	column, err := r.firstOfFew("questions", columnValue{"type", otherType}, columnValue{"project", f.Project})
	switch {
	case err != nil || column != "" || isPending:
		return column, err
	case f.Project != "":
		return "project", nil
	case otherType != "":
		return "type", nil
	}
	return "", nil
}

// isByAssignee reports whether the list is read through the rows of an assignee.
func (f QuestionFilter) isByAssignee() bool {
	return f.Assignee != "" && f.TaskID == "" && (f.Status == string(fermata.Pending) || f.isInOrderOfIDs())
}

// isInOrderOfIDs reports whether the order of a list that is not only of pending questions is the order of the ids.
func (f QuestionFilter) isInOrderOfIDs() bool {
	return f.Sort == "" || f.Sort == SortNewest || f.Sort == SortOldest
}

// assigneeParts returns the parts of a query for the list of an assignee, as [listOrder.firstIDs] takes them. It returns
// none for other lists, and for pending questions.
func (f QuestionFilter) assigneeParts(w *whereClause) []string {
	if f.Status == string(fermata.Pending) || !f.isByAssignee() {
		return nil
	}
	w.args = append(w.args, strings.ToLower(f.Assignee))
	byID := listOrder{desc: f.Sort != SortOldest}
	parts := []string{byID.listedPart(w.d.joinAssignedQuestions(len(w.args), true), w.sql(), f.Limit)}
	if f.Status == "" {
		parts = append(parts, byID.listedPart(w.d.joinAssignedQuestions(len(w.args), false), w.sql(), f.Limit))
	}
	return parts
}

// from returns the FROM of a list that has no parts. The pending questions of an assignee are few, so they are put in order
// after they are read.
func (f QuestionFilter) from(w *whereClause) string {
	if !f.isByAssignee() {
		return " FROM questions WHERE "
	}
	w.args = append(w.args, strings.ToLower(f.Assignee))
	return w.d.joinAssignedQuestions(len(w.args), false)
}
