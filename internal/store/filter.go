package store

import (
	"fmt"
	"strings"
)

// filter builds the condition of a list, always within one workspace.
type filter struct {
	d          *dialect
	conditions []string
	args       []any
}

func (r Reader) newFilter() *filter {
	return &filter{d: r.d, conditions: []string{"workspace_id = $1"}, args: []any{r.workspace}}
}

// add adds a condition with one parameter, whose number is the only %d.
func (f *filter) add(condition string, arg any) {
	f.args = append(f.args, arg)
	f.conditions = append(f.conditions, fmt.Sprintf(condition, len(f.args)))
}

func (f *filter) addEqual(column, value string) {
	if value != "" {
		f.add(column+" = $%d", value)
	}
}

func (f *filter) addContains(column, value string) {
	if value != "" {
		f.add(column+" "+f.d.like+` $%d ESCAPE '\'`, likeAnywhere(value))
	}
}

// likeAnywhere returns the LIKE pattern of the texts that contain the value.
func likeAnywhere(value string) string { return "%" + escapeLike(value) + "%" }

// escapeLike returns the text with the special characters of LIKE escaped.
func escapeLike(value string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(value)
}

// addOneOf is addIn for texts. A single text is compared directly, which costs the
// database much less than a list.
func (f *filter) addOneOf(column string, values []string) {
	if len(values) == 1 {
		f.add(column+" = $%d", values[0])
		return
	}
	f.addIn(column, values)
}

func (f *filter) addIn(column string, values any) {
	f.args = append(f.args, columnText(values))
	f.conditions = append(f.conditions, fmt.Sprintf(f.d.inList, column, len(f.args)))
}

func (f *filter) sql() string { return strings.Join(f.conditions, " AND ") }
