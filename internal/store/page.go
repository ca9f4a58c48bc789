package store

import (
	"fmt"
	"strings"
)

// listOrder is an order of a list in SQL.
type listOrder struct {
	// by is the sort column before the id; it is empty if the id alone decides.
	by string
	// desc reports whether the largest value comes first.
	desc bool
}

func (o listOrder) sql() string {
	way := ""
	if o.desc {
		way = " DESC"
	}
	if o.by == "" {
		return "id" + way
	}
	return o.by + way + ", id" + way
}

// keys returns the columns that the order compares.
func (o listOrder) keys() string {
	if o.by == "" {
		return "id"
	}
	return o.by + ", id"
}

// operator returns the operator of the condition "this row comes after that position".
func (o listOrder) operator() string {
	if o.desc {
		return "<"
	}
	return ">"
}

// firstIDs returns the query for the first ids, in the order, of the rows that the parts find. A part is a query from its
// FROM on, without an order, for rows that an index contains in the order of the list. So the query reads at most limit
// rows of each part.
func (o listOrder) firstIDs(parts []string, limit int) string {
	orderAndLimit := fmt.Sprintf(" ORDER BY %s LIMIT %d", o.sql(), limit)
	queries := make([]string, len(parts))
	for i, part := range parts {
		queries[i] = fmt.Sprintf("SELECT * FROM (SELECT %s%s%s) AS part_%d", o.keys(), part, orderAndLimit, i)
	}
	if len(queries) == 1 {
		return "SELECT id FROM (" + queries[0] + ") AS parts"
	}
	return "SELECT id FROM (" + strings.Join(queries, " UNION ALL ") + ") AS parts" + orderAndLimit
}

// firstRows returns the query for the first rows, in the order, of those that the parts find in a table. Only the rows of
// the page itself are read; everything before is read from the indexes.
func (r Reader) firstRows(columns, table string, o listOrder, parts []string, limit int) string {
	return "SELECT " + columns + " FROM " + table + " WHERE workspace_id = $1 AND " +
		fmt.Sprintf(r.d.inQuery, "id", o.firstIDs(parts, limit)) + " ORDER BY " + o.sql()
}

// addIndexed adds a condition that only an index on the column's expression fits, as in the migration 0041.
func (w *whereClause) addIndexed(column, value string) {
	if value != "" {
		w.add(column+" || '' = $%d", value)
	}
}

// useIndex replaces a condition on a column with the one that only the index of the column's expression fits.
func useIndex(conditions, column string) string {
	return strings.Replace(conditions, column+" = ", column+" || '' = ", 1)
}

// columnValue is a condition of a list: this column has this value. An empty value is no condition.
type columnValue struct{ column, value string }

// firstOfFew returns the first column whose value only few rows of the table have. It returns "" if there is none.
func (r Reader) firstOfFew(table string, conditions ...columnValue) (string, error) {
	for _, c := range conditions {
		if c.value == "" {
			continue
		}
		isFew, err := r.areFew(table, c.column, c.value)
		if err != nil || isFew {
			return c.column, err
		}
	}
	return "", nil
}

// fewRows is the number of rows from which on a page is not read by reading all rows of a project, an agent or a type.
const fewRows = 500

// areFew reports whether few rows of the table have the value in a column that has an index of the expression
// [whereClause.addIndexed].
func (r Reader) areFew(table, column, value string) (bool, error) {
	w := r.newWhereClause()
	w.addIndexed(column, value)
	if column == "agent" {
		w.conditions = append(w.conditions, "agent <> ''")
	}
	if column == "type" {
		w.conditions = append(w.conditions, isOtherType)
	}
	found, err := list(r, scanInt, "SELECT count(*) FROM (SELECT 1 FROM "+table+" WHERE "+w.sql()+fmt.Sprintf(" LIMIT %d) AS few", fewRows), w.args...)
	return err == nil && found[0] < fewRows, err
}
