package session

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// flagFieldError returns the error about a field of JSON in a flag, or in the file that the flag names. The entries of a
// list count from 1, as people count.
func flagFieldError(flag, file string, data []byte, fieldErr *strictjson.FieldError) *fermata.Error {
	path := fieldErr.Field
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		path = listPath(path)
	}
	where := ""
	if file != "" {
		where = " in " + FileLabel(file)
	}
	e := FlagErrorf(FlagPath(flag, path), "%s%s", fieldErr.Message, where)
	e.Problems = []fermata.Problem{{Field: path, Message: fieldErr.Message}}
	return e
}

// listPath puts the list index at the beginning of a path into brackets: 0.prompt becomes [0].prompt.
func listPath(path string) string {
	digits := len(path) - len(strings.TrimLeft(path, "0123456789"))
	if digits == 0 {
		return path
	}
	return "[" + path[:digits] + "]" + path[digits:]
}

// indexPattern matches a list index in a path, with the dot after it.
var indexPattern = lazyregexp.New(`\[(\d+)\]\.?`)

// FlagPath returns a path below the flag that holds it, such as "--escalation, entry 1: assignee" for [0].assignee. A
// path of an object stays as the API writes it.
func FlagPath(flag, path string) string {
	if path == "" {
		return flag
	}
	if !strings.HasPrefix(path, "[") {
		return flag + ": " + path
	}
	entries := indexPattern().ReplaceAllStringFunc(path, func(found string) string {
		n, err := strconv.Atoi(indexPattern().FindStringSubmatch(found)[1])
		if err != nil {
			return found
		}
		return fmt.Sprintf(", entry %d: ", n+1)
	})
	return flag + strings.TrimSuffix(entries, ": ")
}
