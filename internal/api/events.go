package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// eventPage is one part of the events, oldest first.
type eventPage struct {
	Items []*fermata.Event `json:"items"`
	// NextCursor is the value of after for the next part. It is absent if there
	// is none yet.
	NextCursor string `json:"next_cursor,omitempty" doc:"after of the next part"`
}

// taskEventsInput narrows a list of a task's events.
type taskEventsInput struct {
	IDInput
	After int64    `query:"after" minimum:"0" doc:"the number behind which the part begins"`
	Type  []string `query:"type" doc:"only these types, or all of a noun such as question, separated by commas"`
	Limit int      `query:"limit" minimum:"1" maximum:"1000" doc:"default 100"`
}

func (s *Server) registerEvents() {
	addOperation(s, operation("GET /tasks/{id}/events", "list-task-events", "List what happened to a task"),
		func(ctx context.Context, c fermata.Caller, in *taskEventsInput) (*reply[eventPage], error) {
			return s.eventPage(ctx, c, engine.EventFilter{
				TaskID: in.ID, After: in.After, Types: in.Type, Limit: in.Limit,
			})
		})
	s.mux.HandleFunc("GET /v1/events", s.events)
	s.api.OpenAPI().AddOperation(s.describeEvents())
}

func (s *Server) eventPage(ctx context.Context, c fermata.Caller, f engine.EventFilter) (*reply[eventPage], error) {
	items, next, err := s.Engine.Events(ctx, c, f)
	if err != nil {
		return nil, err
	}
	page := eventPage{Items: items}
	if items == nil {
		page.Items = []*fermata.Event{}
	}
	if len(items) > 0 && next > 0 {
		page.NextCursor = strconv.FormatInt(next, 10)
	}
	return replyOf(page, nil)
}

// describeEvents documents the stream, which is served without huma so that a
// stream costs no more memory than it needs.
func (s *Server) describeEvents() *huma.Operation {
	op := operation("GET /events", "stream-events", "Follow events live (SSE), or list them as JSON")
	op.Description = "As text/event-stream: id is the event's number, event its type, data the event. " +
		"Last-Event-ID replays what followed without gap or repeat; a number that this workspace never had gets the event reset " +
		"and a fresh start. Without a number the stream begins now. With Accept: application/json: a part of the list."
	zero := 0.0
	text := func(name, in, doc string) *huma.Param {
		return &huma.Param{Name: name, In: in, Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	number := func(name, in, doc string) *huma.Param {
		return &huma.Param{Name: name, In: in, Description: doc, Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &zero}}
	}
	op.Parameters = []*huma.Param{
		number("Last-Event-ID", "header", "the last event that was seen; goes before after"),
		number("after", "query", "the same for a first connection, and the cursor of a list"),
		text("task", "query", "only events of this task"), text("type", "query", "only these types, or all of a noun such as question, separated by commas"),
		number("limit", "query", "of a list: 1 to 1000, default 100"),
	}
	schemas := s.api.OpenAPI().Components.Schemas
	op.Responses = map[string]*huma.Response{
		"200": {Description: http.StatusText(http.StatusOK), Content: map[string]*huma.MediaType{
			"text/event-stream": {Schema: schemas.Schema(reflect.TypeFor[fermata.Event](), true, "Event")},
			"application/json":  {Schema: schemas.Schema(reflect.TypeFor[eventPage](), true, "EventPage")},
		}},
		"default": {Description: "Error", Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: schemas.Schema(reflect.TypeFor[ProblemDetails](), true, "ProblemDetails")},
		}},
	}
	return &op
}
