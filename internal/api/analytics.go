package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/insight"
)

// AnalyticsInput narrows the questions of a report. It is exported because huma
// ignores embedded structs that are not.
type AnalyticsInput struct {
	From    time.Time `query:"from" doc:"asked at this instant or later (RFC 3339); 30 days before to, unless given"`
	To      time.Time `query:"to" doc:"asked before this instant (RFC 3339); now, unless given"`
	Project string    `query:"project" maxLength:"64"`
	Type    string    `query:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Format  string    `query:"format" enum:"json,csv" doc:"json, unless given"`
}

// seriesInput is an [AnalyticsInput] with the length of a step.
type seriesInput struct {
	AnalyticsInput
	Interval fermata.SeriesInterval `query:"interval" enum:"hour,day,week" doc:"day, unless given; steps are counted from the beginning of the period"`
}

// commonInput is an [AnalyticsInput] with the number of questions to list.
type commonInput struct {
	AnalyticsInput
	Limit int `query:"limit" minimum:"1" maximum:"100" doc:"default 20"`
}

// report is the input of a report: its query and the format of its reply.
type report interface {
	query() (insight.Query, error)
	wantsCSV() bool
}

func (in *AnalyticsInput) query() (insight.Query, error) {
	from, to, err := PeriodInput{From: in.From, To: in.To}.bounds()
	return insight.Query{From: from, To: to, Project: in.Project, Type: in.Type}, err
}

func (in *AnalyticsInput) wantsCSV() bool { return in.Format == "csv" }

func (in *seriesInput) query() (insight.Query, error) {
	q, err := in.AnalyticsInput.query()
	q.Interval = in.Interval
	return q, err
}

func (in *commonInput) query() (insight.Query, error) {
	q, err := in.AnalyticsInput.query()
	q.Limit = in.Limit
	return q, err
}

// bytesReply is a reply whose body the handler has encoded.
type bytesReply struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (s *Server) registerAnalytics() {
	a := insight.Analytics{Engine: s.Engine}
	addReport[*AnalyticsInput](s, "summary", "Read a period at a glance", a.Summary, summaryTable)
	addReport[*seriesInput](s, "series", "Read a period step by step", a.Series, seriesTable)
	addReport[*commonInput](s, "questions", "List the questions that are asked most often", a.Questions, questionsTable)
	addReport[*AnalyticsInput](s, "responders", "List who answers, and how quickly", a.Responders, respondersTable)
	addReport[*AnalyticsInput](s, "projects", "List the projects that ask", a.Projects, projectsTable)
}

// addReport registers a report, which callers read as JSON or as a table in
// CSV.
func addReport[P interface {
	report
	*I
}, I, T any](s *Server, name, summary string, read func(context.Context, fermata.Caller, insight.Query) (T, error), table func(T) [][]string) {
	op := operation("GET /analytics/"+name, "analytics-"+name, summary)
	op.Description = "About the questions that were asked in the period, as they stand now. Every figure has its n."
	op.Responses = map[string]*huma.Response{"200": {
		Description: http.StatusText(http.StatusOK),
		Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")},
			"text/csv":         {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}
	addOperation(s, op, func(ctx context.Context, c fermata.Caller, in *I) (*bytesReply, error) {
		q, err := P(in).query()
		if err != nil {
			return nil, err
		}
		found, err := read(ctx, c, q)
		if err != nil {
			return nil, err
		}
		if P(in).wantsCSV() {
			return tableReply(name, table(found))
		}
		body, err := json.Marshal(found)
		return &bytesReply{ContentType: "application/json", Body: body}, err
	})
}

// tableReply returns a table as CSV, in a file with the report's name.
func tableReply(name string, rows [][]string) (*bytesReply, error) {
	var buf bytes.Buffer
	if err := csv.NewWriter(&buf).WriteAll(rows); err != nil {
		return nil, err
	}
	return &bytesReply{
		ContentType: "text/csv; charset=utf-8", Disposition: `attachment; filename="fermata-` + name + `.csv"`, Body: buf.Bytes(),
	}, nil
}
