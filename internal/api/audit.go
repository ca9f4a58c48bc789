package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// PeriodInput is a period of time. It is exported because huma ignores embedded
// structs that are not.
type PeriodInput struct {
	From time.Time `query:"from" doc:"at this instant or later (RFC 3339)"`
	To   time.Time `query:"to" doc:"before this instant (RFC 3339)"`
}

func (in PeriodInput) bounds() (from, to *time.Time, err error) {
	if !in.From.IsZero() {
		from = &in.From
	}
	if !in.To.IsZero() {
		to = &in.To
	}
	if from != nil && to != nil && !from.Before(*to) {
		return nil, nil, fermata.Invalid(fermata.Problem{Field: "to", Message: "must be after from"})
	}
	return from, to, nil
}

// auditInput narrows a search in the events.
type auditInput struct {
	PageInput
	PeriodInput
	Q     string   `query:"q" maxLength:"200" doc:"a part of a name, or of what an event adds; or a whole id"`
	Type  []string `query:"type" maxItems:"50" doc:"types such as question.asked, or nouns such as question, separated by commas"`
	Actor string   `query:"actor" maxLength:"128" doc:"human, agent, system, policy or timeout; or an id or a name"`
	Task  string   `query:"task" maxLength:"64" doc:"an id, or a unique short ending of one"`
}

// streamed is a reply that is written while it is read from the database.
type streamed struct{ Body func(huma.Context) }

func (s *Server) registerAudit() {
	addOperation(s, operation("GET /audit", "list-audit", "Search what happened, the newest first"), s.audit)
	op := operation("GET /audit/export", "export-audit", "Export what happened as JSON lines, in the order of the chain")
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[fermata.Event](), true, "Event")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "One event a line. Where retention removed events, a line with a trimmed_range stands before those that were kept. A transfer that ends early was cut off: the connection breaks.",
		Content:     map[string]*huma.MediaType{"application/jsonl": {Schema: schema}},
	}}
	addOperation(s, op, s.exportAudit)
	addOperation(s, operation("GET /audit/trimmed-ranges", "list-trimmed-ranges", "List the ranges of the chain from which retention removed events"), s.trimmedRanges)
	addOperation(s, operation("GET /retention", "get-retention", "Read how long ended work is kept, and what was removed"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[fermata.Retention], error) {
			return replyOf(s.Engine.Retention(ctx, c))
		})
}

type trimmedRangesInput struct {
	After int64 `query:"after" minimum:"0" doc:"only ranges that end after this event"`
}

// trimmedRangeList is a page of trimmed ranges.
type trimmedRangeList struct {
	Items []fermata.SignedTrimmedRange `json:"items"`
}

func (s *Server) trimmedRanges(ctx context.Context, c fermata.Caller, in *trimmedRangesInput) (*reply[trimmedRangeList], error) {
	found, err := s.Engine.TrimmedRanges(ctx, c, in.After)
	if found == nil {
		found = []fermata.SignedTrimmedRange{}
	}
	return replyOf(trimmedRangeList{found}, err)
}

// trimmedLine is the line of an export for a trimmed range.
type trimmedLine struct {
	TrimmedRange *fermata.SignedTrimmedRange `json:"trimmed_range"`
}

func (s *Server) audit(ctx context.Context, c fermata.Caller, in *auditInput) (*reply[fermata.AuditPage], error) {
	from, to, err := in.bounds()
	if err != nil {
		return nil, err
	}
	page, err := s.Engine.Audit(ctx, c, engine.AuditFilter{
		TaskID: in.Task, Types: in.Type, Actor: in.Actor, Q: in.Q, From: from, To: to, Limit: in.Limit, Cursor: in.Cursor,
	})
	if page.Items == nil {
		page.Items = []*fermata.Event{}
	}
	return replyOf(page, err)
}

// exportAudit streams events. A failure before the first event is returned as a
// problem. A later failure breaks the connection, so that a client cannot take
// a partial export for a complete one.
func (s *Server) exportAudit(ctx context.Context, c fermata.Caller, in *PeriodInput) (*streamed, error) {
	from, to, err := in.bounds()
	if err != nil {
		return nil, err
	}
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.InEveryProject); err != nil {
		return nil, err
	}
	return &streamed{func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		conn := http.NewResponseController(w)
		w.Header().Set("Content-Type", "application/jsonl")
		w.Header().Set("Content-Disposition", `attachment; filename="fermata-audit.jsonl"`)
		lines := json.NewEncoder(w)
		// No byte that was hashed may change.
		lines.SetEscapeHTML(false)
		err := s.Engine.ExportAudit(ctx, c, engine.ExportRange{From: from, To: to}, func(exported []engine.ExportLine) error {
			// An error means that the connection supports no deadlines, as in a
			// test.
			_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			for _, line := range exported {
				var document any = line.Event
				if line.TrimmedRange != nil {
					document = trimmedLine{line.TrimmedRange}
				}
				if err := lines.Encode(document); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			s.Log.WarnContext(ctx, "an export of the audit ended early", "error", err)
			panic(http.ErrAbortHandler)
		}
	}}, nil
}
