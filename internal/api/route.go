package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
)

// longestWait bounds a long poll.
const longestWait = 60 * time.Second

// IDInput names a thing in the path. It is exported because huma passes over
// embedded structs that are not.
type IDInput struct {
	ID string `path:"id" maxLength:"64" doc:"an id, or a unique short ending of one"`
}

// idBody is a thing in the path and a body.
type idBody[T any] struct {
	IDInput
	Body T
}

// bodyInput is a body alone.
type bodyInput[T any] struct{ Body T }

// nothing is the body of a call that takes none: absent, or an empty object.
type nothing struct{}

// PageInput asks for a part of a list.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"default 50"`
	Cursor string `query:"cursor" maxLength:"500" doc:"next_cursor of the part before"`
}

// reply is a body to send.
type reply[T any] struct{ Body T }

// page is one part of a list.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty" doc:"absent in the last part; while it is there, more may follow, however short this part is"`
}

func replyOf[T any](v T, err error) (*reply[T], error) {
	if err != nil {
		return nil, err
	}
	return &reply[T]{v}, nil
}

func pageOf[T any](items []T, next string, err error) (*reply[page[T]], error) {
	if items == nil {
		items = []T{}
	}
	return replyOf(page[T]{items, next}, err)
}

func listOf[T any](items []T, err error) (*reply[page[T]], error) { return pageOf(items, "", err) }

// empty is the reply of a call that returns nothing: 204.
type empty struct{}

func emptyOf(err error) (*empty, error) { return &empty{}, err }

// permissionKey is where the document says which verb of the table a call is.
const permissionKey = "x-fermata-permission"

// verbOf returns the verb of a call. A call without one is a fault of this
// program, which no server starts with.
func verbOf(id string) fermata.Verb {
	v := fermata.VerbOf(id)
	if v == (fermata.Verb{}) {
		panic("api: the table of permissions has no row for the operation " + id)
	}
	return v
}

// operation describes a call. Its tag is the first noun of the path.
func operation(call, id, summary string) huma.Operation {
	method, path, _ := strings.Cut(call, " ")
	tag, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	op := huma.Operation{
		Method: method, Path: "/v1" + path, OperationID: id, Summary: summary, Tags: []string{tag},
		Security: []map[string][]string{{"bearer": {}}},
		// The whole server bounds bodies; huma would read up to its own limit.
		MaxBodyBytes: -1, BodyReadTimeout: readWithin,
		Extensions: map[string]any{permissionKey: verbOf(id).String()},
	}
	if method == http.MethodPost {
		longest := longestKey
		op.Parameters = []*huma.Param{{
			Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &longest},
			Description: "A repeated request with the same key gets the first result.",
		}}
	}
	return op
}

// created makes the call reply with 201.
func created(op huma.Operation) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	return op
}

// add registers a call. The handler gets who calls, and its error becomes a
// problem.
func add[I, O any](s *Server, op huma.Operation, h func(context.Context, fermata.Caller, *I) (*O, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, callerOf(ctx), in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return out, nil
	})
}

// parseWait reads how long a long poll waits.
func parseWait(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > longestWait {
		return 0, fermata.Invalid(fermata.Problem{Field: "wait", Message: "must be a duration from 0s to 60s, such as 25s"})
	}
	return d, nil
}
