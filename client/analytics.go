package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fermata-hq/fermata"
)

// AnalyticsQuery says which questions analytics are about: those that were
// asked in a period.
type AnalyticsQuery struct {
	// From and To bound when they were asked; nil is 30 days before To, and now.
	From, To *time.Time
	Project  string
	Type     fermata.QuestionType
	// Interval is the length of a step of a series; empty is a day.
	Interval fermata.SeriesInterval
	// Limit is how many of the most common questions to list; 0 is 20.
	Limit int
}

// values returns the parameters that a report takes.
func (q AnalyticsQuery) values(report string) url.Values {
	v := values{}
	v.instant("from", q.From)
	v.instant("to", q.To)
	v.text("project", q.Project)
	v.text("type", string(q.Type))
	switch report {
	case "series":
		v.text("interval", string(q.Interval))
	case "questions":
		v.number("limit", int64(q.Limit))
	}
	return url.Values(v)
}

// AnalyticsSummary returns a period at a glance.
func (c *Client) AnalyticsSummary(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsSummary, error) {
	return get[*fermata.AnalyticsSummary](ctx, c, path("analytics", "summary"), q.values("summary"))
}

// AnalyticsSeries returns a period step by step.
func (c *Client) AnalyticsSeries(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsSeries, error) {
	return get[*fermata.AnalyticsSeries](ctx, c, path("analytics", "series"), q.values("series"))
}

// AnalyticsQuestions returns the questions that are asked most often.
func (c *Client) AnalyticsQuestions(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsQuestions, error) {
	return get[*fermata.AnalyticsQuestions](ctx, c, path("analytics", "questions"), q.values("questions"))
}

// AnalyticsResponders returns who answers, and how quickly.
func (c *Client) AnalyticsResponders(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsResponders, error) {
	return get[*fermata.AnalyticsResponders](ctx, c, path("analytics", "responders"), q.values("responders"))
}

// AnalyticsProjects returns the projects that ask.
func (c *Client) AnalyticsProjects(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsProjects, error) {
	return get[*fermata.AnalyticsProjects](ctx, c, path("analytics", "projects"), q.values("projects"))
}

// AnalyticsCSV writes a report – summary, series, questions, responders or
// projects – to w as a table in CSV.
func (c *Client) AnalyticsCSV(ctx context.Context, report string, q AnalyticsQuery, w io.Writer) error {
	query := q.values(report)
	query.Set("format", "csv")
	data, err := c.send(ctx, call{method: http.MethodGet, path: path("analytics", report), query: query})
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fermata.Errorf(fermata.CodeInternal, "write the report: %w", err)
	}
	return nil
}
