package engine

import (
	"encoding/base64"
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// Page sizes of lists.
const (
	defaultPage = 50
	maxPage     = 500
)

func pageSize(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, maxPage)
}

// trimPage removes the extra row that was read to see whether another page follows.
// It reports whether there was one.
func trimPage[T any](rows []T, limit int) ([]T, bool) {
	if n := pageSize(limit); len(rows) > n {
		return rows[:n], true
	}
	return rows, false
}

// cursor is a place in one list with one set of filters. A cursor of another
// list or of other filters is refused, since it would be misread.
type cursor struct {
	List     string          `json:"l"`
	Position json.RawMessage `json:"p"`
	encoded  string
}

// cursorOf returns a cursor for the list with this name and filter. The
// filter's own cursor and limit are ignored.
func cursorOf(list, encoded string, filter any) cursor {
	switch f := filter.(type) {
	case TaskFilter:
		f.Cursor, f.Limit = "", 0
		filter = f
	case QuestionFilter:
		f.Cursor, f.Limit = "", 0
		filter = f
	case AuditFilter:
		f.Cursor, f.Limit = "", 0
		filter = f
	}
	return cursor{List: list + ":" + fermata.Digest(filter)[:8], encoded: encoded}
}

func (c cursor) read(position any) error {
	if c.encoded == "" {
		return nil
	}
	var got cursor
	text, err := base64.RawURLEncoding.DecodeString(c.encoded)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err == nil && got.List == c.List {
		err = json.Unmarshal(got.Position, position)
	}
	if err != nil || got.List != c.List {
		return fermata.Invalid(fermata.Problem{Field: "cursor", Message: "is not from this list with these filters"})
	}
	return nil
}

func (c cursor) write(position any) string {
	c.Position = encodeData(position)
	return base64.RawURLEncoding.EncodeToString(encodeData(c))
}
