package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fermata-hq/fermata"
)

// AnalyticsQuery selects the questions of a report: those that were asked in a
// period.
type AnalyticsQuery struct {
	// From and To bound the time of asking. A nil From is 30 days before To,
	// and a nil To is the present.
	From, To *time.Time
	Project  string
	Type     fermata.QuestionType
	// Interval is the length of one step of a series. Empty means a day.
	Interval fermata.SeriesInterval
	// Limit is how many of the most common questions the report lists; 0 means
	// 20.
	Limit int
}

// values returns the query parameters that the report accepts.
func (q AnalyticsQuery) values(report string) url.Values {
	v := values{}
	v.setInstant("from", q.From)
	v.setInstant("to", q.To)
	v.setText("project", q.Project)
	v.setText("type", string(q.Type))
	switch report {
	case "series":
		v.setText("interval", string(q.Interval))
	case "questions":
		v.setNumber("limit", int64(q.Limit))
	}
	return url.Values(v)
}

// AnalyticsSummary returns the figures of the whole period.
func (c *Client) AnalyticsSummary(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsSummary, error) {
	return get[*fermata.AnalyticsSummary](ctx, c, path("analytics", "summary"), q.values("summary"))
}

// AnalyticsSeries returns the figures of each step of the period.
func (c *Client) AnalyticsSeries(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsSeries, error) {
	return get[*fermata.AnalyticsSeries](ctx, c, path("analytics", "series"), q.values("series"))
}

// AnalyticsQuestions returns the questions that are asked most often.
func (c *Client) AnalyticsQuestions(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsQuestions, error) {
	return get[*fermata.AnalyticsQuestions](ctx, c, path("analytics", "questions"), q.values("questions"))
}

// AnalyticsResponders returns the people who answered, and how quickly they
// did.
func (c *Client) AnalyticsResponders(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsResponders, error) {
	return get[*fermata.AnalyticsResponders](ctx, c, path("analytics", "responders"), q.values("responders"))
}

// AnalyticsProjects returns the figures of each project that asks.
func (c *Client) AnalyticsProjects(ctx context.Context, q AnalyticsQuery) (*fermata.AnalyticsProjects, error) {
	return get[*fermata.AnalyticsProjects](ctx, c, path("analytics", "projects"), q.values("projects"))
}

// AnalyticsCSV writes a report to w as a CSV table. The report is summary,
// series, questions, responders or projects.
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
