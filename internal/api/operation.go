package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
)

// maxWait is the longest time of a long poll.
const maxWait = 60 * time.Second

// IDInput names an object in the path by its id. It is exported because huma
// ignores embedded structs that are not.
type IDInput struct {
	ID string `path:"id" maxLength:"64" doc:"an id, or a unique short ending of one"`
}

// idBody is an id in the path, and a body.
type idBody[T any] struct {
	IDInput
	Body T
}

// bodyInput is only a body.
type bodyInput[T any] struct{ Body T }

// nothing is the body of a call without input: absent, or an empty object.
type nothing struct{}

// PageInput selects a part of a list.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"default 50"`
	Cursor string `query:"cursor" maxLength:"500" doc:"next_cursor of the part before"`
}

// reply is a reply with a body.
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

// empty is the reply of a call that returns no data: 204.
type empty struct{}

func emptyOf(err error) (*empty, error) { return &empty{}, err }

// permissionKey is the key in the OpenAPI document under which a call names its
// verb in the table of permissions.
const permissionKey = "x-fermata-permission"

// verbOf returns the verb of a call. A call without a verb is an error in this
// program, and the server does not start with it.
func verbOf(id string) fermata.Verb {
	v := fermata.VerbOf(id)
	if v == (fermata.Verb{}) {
		panic("api: the table of permissions has no row for the operation " + id)
	}
	return v
}

// operation returns the description of a call. Its tag is the first noun of the
// path.
func operation(call, id, summary string) huma.Operation {
	method, path, _ := strings.Cut(call, " ")
	tag, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	op := huma.Operation{
		Method: method, Path: "/v1" + path, OperationID: id, Summary: summary, Tags: []string{tag},
		Security: []map[string][]string{{"bearer": {}}},
		// The server limits all bodies. Otherwise huma would apply a limit of
		// its own.
		MaxBodyBytes: -1, BodyReadTimeout: readTimeout,
		Extensions: map[string]any{permissionKey: verbOf(id).String()},
	}
	if method == http.MethodPost {
		longest := maxIdempotencyKey
		op.Parameters = []*huma.Param{{
			Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &longest},
			Description: "A repeated request with the same key gets the first result.",
		}}
	}
	return op
}

// withStatusCreated makes the call reply with status 201.
func withStatusCreated(op huma.Operation) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	return op
}

// addOperation registers a call. The handler gets the caller, and its error becomes a
// problem.
func addOperation[I, O any](s *Server, op huma.Operation, h func(context.Context, fermata.Caller, *I) (*O, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, callerOf(ctx), in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return out, nil
	})
}

// parseWait parses how long a long poll waits.
func parseWait(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxWait {
		return 0, fermata.Invalid(fermata.Problem{Field: "wait", Message: "must be a duration from 0s to 60s, such as 25s"})
	}
	return d, nil
}
