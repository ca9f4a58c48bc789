package store

import (
	"fmt"
	"strings"
)

// whereClause builds the condition of a list, always within one workspace.
type whereClause struct {
	d          *dialect
	conditions []string
	args       []any
}

func (r Reader) newWhereClause() *whereClause {
	return &whereClause{d: r.d, conditions: []string{"workspace_id = $1"}, args: []any{r.workspace}}
}

// add adds a condition with one parameter, whose number is the only %d.
func (w *whereClause) add(condition string, arg any) {
	w.args = append(w.args, arg)
	w.conditions = append(w.conditions, fmt.Sprintf(condition, len(w.args)))
}

func (w *whereClause) addEqual(column, value string) {
	if value != "" {
		w.add(column+" = $%d", value)
	}
}

func (w *whereClause) addContains(column, value string) {
	if value != "" {
		w.add(column+" "+w.d.like+` $%d ESCAPE '\'`, likeAnywhere(value))
	}
}

// likeAnywhere returns the LIKE pattern of the texts that contain the value.
func likeAnywhere(value string) string { return "%" + escapeLike(value) + "%" }

// escapeLike returns the text with the special characters of LIKE escaped.
func escapeLike(value string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(value)
}

func (w *whereClause) addIn(column string, values any) {
	w.args = append(w.args, columnText(values))
	w.conditions = append(w.conditions, fmt.Sprintf(w.d.inList, column, len(w.args)))
}

func (w *whereClause) sql() string { return strings.Join(w.conditions, " AND ") }
