package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
)

// Reader reads one workspace. It cannot read any other workspace.
type Reader struct {
	ctx       context.Context
	q         querier
	d         *dialect
	ring      *keys.Ring
	workspace string
	// visible are the projects that the reader can read; see [Reader.WithVisibleProjects].
	visible fermata.ProjectSet
}

// Workspace returns the id of the workspace that the reader reads.
func (r Reader) Workspace() string { return r.workspace }

// list reads every row of a query.
func list[T any](r Reader, scan func(rows) (T, error), sql string, args ...any) ([]T, error) {
	var out []T
	err := r.q.runLookups(r.ctx, scanInto(&out, scan, sql, args...))
	return out, err
}

// mapByID reads all rows. Each has an id, and a value that belongs to it.
func mapByID[T any](r Reader, scan func(rs rows, id *string) (T, error), sql string, args ...any) (map[string]T, error) {
	out := map[string]T{}
	_, err := list(r, func(rs rows) (struct{}, error) {
		var id string
		v, err := scan(rs, &id)
		out[id] = v
		return struct{}{}, err
	}, sql, args...)
	return out, err
}

// scanNumber reads a row of an id and a number.
func scanNumber(rs rows, id *string) (n int64, err error) {
	err = rs.Scan(id, &n)
	return n, err
}

// scanInto returns a look-up that appends every row to a list.
func scanInto[T any](out *[]T, scan func(rows) (T, error), sql string, args ...any) lookup {
	return lookup{sql: sql, args: args, scanRows: func(rs rows) error {
		return scanEach(rs, scan, func(v T) { *out = append(*out, v) })
	}}
}

// scan reads a row into dest, and returns the value that build creates from it.
func scan[T any](rs rows, dest []any, build func() (T, error)) (T, error) {
	if err := rs.Scan(dest...); err != nil {
		var zero T
		return zero, err
	}
	return build()
}

// scanEach reads every row and passes it to use.
func scanEach[T any](rs rows, scan func(rows) (T, error), use func(T)) error {
	for rs.Next() {
		v, err := scan(rs)
		if err != nil {
			return err
		}
		use(v)
	}
	return rs.Err()
}

// listByID reads the rows of a table with the ids, ordered by id.
func listByID[T any](r Reader, scan func(rows) (*T, error), columns, table string, ids []string, idOf func(*T) string) ([]*T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := list(r, scan, byIDSQL(r, columns, table), r.workspace, columnText(ids))
	sortByID(found, idOf)
	return found, err
}

// byIDSQL returns the statement that reads the rows of a table with a list of ids.
func byIDSQL(r Reader, columns, table string) string { return fmt.Sprintf(r.d.byID, columns, table) }

func sortByID[T any](found []*T, idOf func(*T) string) {
	slices.SortFunc(found, func(a, b *T) int { return cmp.Compare(idOf(a), idOf(b)) })
}

// scanOne reads the only row of a query. If there is none, it returns a [fermata.CodeNotFound].
func scanOne[T any](r Reader, noun, id string, scan func(rows) (T, error), sql string, args ...any) (T, error) {
	all, err := list(r, scan, sql, args...)
	if err != nil {
		var zero T
		return zero, err
	}
	if len(all) == 0 {
		var zero T
		return zero, fermata.NotFound(noun, id)
	}
	return all[0], nil
}

func scanString(rs rows) (string, error) {
	var s string
	return s, rs.Scan(&s)
}

func millis(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMilli()
}

// instantOf returns the instant of a column, which is in milliseconds. A year in JSON has four digits. So an instant
// outside the years 1 to 9999 becomes the nearest one that JSON can write.
func instantOf(ms int64) time.Time {
	return time.UnixMilli(min(max(ms, firstInstant), lastInstant)).UTC()
}

// The first and the last instant that JSON can write.
var (
	firstInstant = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastInstant  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli()
)

func optionalInstant(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := instantOf(ms)
	return &t
}

// columnText returns the JSON of a value for a column, or "" for an empty value.
func columnText(v any) string {
	switch v := v.(type) {
	case json.RawMessage:
		return string(v)
	case []string:
		if len(v) == 0 {
			return ""
		}
	}
	return jsonText(json.Marshal(v))
}

// exactColumnText is [columnText] for a value that holds the bytes of an action.
func exactColumnText(v any) string { return jsonText(fermata.ExactJSON(v)) }

func jsonText(data []byte, err error) string {
	if err != nil {
		// The structs of the root package have no value that JSON cannot hold, and a raw message was read from valid
		// JSON.
		panic("store: write JSON: " + err.Error())
	}
	if string(data) == "null" {
		return ""
	}
	return string(data)
}

// parseColumn reads the JSON of a column into v. An empty text leaves v unchanged.
func parseColumn(column, s string, v any) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("column %s: %w", column, err)
	}
	return nil
}

func rawJSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func boolColumn(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
