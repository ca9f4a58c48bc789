package client

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// page is a page of a list in a reply of the API.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// values collects the parameters of a query and leaves empty ones out.
type values url.Values

func (v values) setText(name, s string) {
	if s != "" {
		v[name] = []string{s}
	}
}

func (v values) setList(name string, s []string) { v.setText(name, strings.Join(s, ",")) }

func (v values) setNumber(name string, n int64) {
	if n != 0 {
		v[name] = []string{strconv.FormatInt(n, 10)}
	}
}

func (v values) setInstant(name string, t *time.Time) {
	if t != nil {
		v.setText(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func (v values) setFlag(name string, on bool) {
	if on {
		v[name] = []string{"true"}
	}
}

func toStrings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
