package cli

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type analyticsCommand struct {
	session.Period
	Report   string                 `arg:"" optional:"" enum:"summary,series,questions,responders,projects" default:"summary" help:"summary, series, questions, responders or projects."`
	Project  string                 `help:"Of this project."`
	Type     fermata.QuestionType   `enum:",blocking,non_blocking,approval,error_recovery" default:"" placeholder:"TYPE" help:"Of this type of questions."`
	Interval fermata.SeriesInterval `enum:",hour,day,week" default:"" placeholder:"STEP" help:"Length of a step of a series: hour, day (the default) or week."`
	Limit    session.Quantity       `help:"How many of the most common questions (default: 20)."`
	CSV      bool                   `name:"csv" help:"Print a table in CSV."`
}

func (analyticsCommand) Help() string {
	return `About the questions that were asked in the period, the last 30 days unless you say otherwise, as they stand now. Every figure names of how many it is: n.

Examples:

    fermata analytics
    fermata analytics responders --from 7d
    fermata analytics questions --type approval
    fermata analytics series --interval week --from 2026-09-01 --csv > weeks.csv
    fermata analytics --json | jq .timeout_rate`
}

func (c *analyticsCommand) Run(ctx context.Context, s *session.Session) error {
	q := client.AnalyticsQuery{Project: c.Project, Type: c.Type, Interval: c.Interval, Limit: int(c.Limit)}
	err := session.CheckUnreadFlags(c.Report, map[string]bool{
		"--interval": c.Interval != "" && c.Report != "series", "--limit": c.Limit != 0 && c.Report != "questions",
	})
	if err != nil {
		return err
	}
	if q.From, q.To, err = c.Bounds(s); err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	if c.CSV {
		return writeCSV(s, func(w io.Writer) error { return server.AnalyticsCSV(ctx, c.Report, q, w) })
	}
	switch c.Report {
	case "series":
		return printReport(ctx, s, q, server.AnalyticsSeries, seriesTable)
	case "questions":
		return printReport(ctx, s, q, server.AnalyticsQuestions, questionsTable)
	case "responders":
		return printReport(ctx, s, q, server.AnalyticsResponders, respondersTable)
	case "projects":
		return printReport(ctx, s, q, server.AnalyticsProjects, projectsTable)
	default:
		return printReport(ctx, s, q, server.AnalyticsSummary, summaryTable)
	}
}

// writeCSV prints a table. On a terminal it replaces the characters that the terminal would obey; elsewhere it changes
// nothing.
func writeCSV(s *session.Session, write func(io.Writer) error) error {
	if !s.OutTerm {
		return write(s.Out)
	}
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		return err
	}
	_, err := io.WriteString(s.Out, terminal.Clean(buf.String()))
	return err
}

// printReport reads a report and prints it as JSON or as a table.
func printReport[T any](ctx context.Context, s *session.Session, q client.AnalyticsQuery,
	read func(context.Context, client.AnalyticsQuery) (T, error), toTable func(*session.Session, T) *terminal.Table,
) error {
	found, err := read(ctx, q)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(found)
	}
	s.PrintTable(toTable(s, found), "nothing was asked")
	return nil
}

var (
	answerColumns = []terminal.Column{{Head: "ANSWERED"}, {Head: "MEDIAN"}, {Head: "P90"}, {Head: "<2s"}}
	figureColumns = append([]terminal.Column{{Head: "ASKED"}, {Head: "OPEN"}, {Head: "TIMED OUT"}}, answerColumns...)
)

func answerCells(a fermata.AnswerFigures) []string {
	return []string{formatCount(a.Answered), secondsOrDash(a.TimeToAnswer.Median), secondsOrDash(a.TimeToAnswer.P90), percent(a.Reflex)}
}

// figureCells returns the figures that fit on a terminal. --csv and --json have
// all of them.
func figureCells(f fermata.Figures) []string {
	return append([]string{formatCount(f.Asked), formatCount(f.Pending), percent(f.TimeoutRate)}, answerCells(f.AnswerFigures)...)
}

func formatCount(n int64) string { return strconv.FormatInt(n, 10) }

// secondsOrDash returns a number of seconds as people read it, or a dash for nil.
func secondsOrDash(v *float64) string {
	if v == nil {
		return "–"
	}
	return formatSeconds(*v)
}

// formatSeconds returns a number of seconds in the unit that fits.
func formatSeconds(s float64) string {
	number := func(v float64, unit string) string { return strconv.FormatFloat(v, 'f', -1, 64) + unit }
	tenth := func(v float64) float64 { return float64(int64(v*10)) / 10 }
	switch {
	case s < 60:
		return number(s, "s")
	case s < 3600:
		return number(tenth(s/60), "min")
	case s < 48*3600:
		return number(tenth(s/3600), "h")
	default:
		return number(tenth(s/86400), "d")
	}
}

// percent returns a share in percent, with the number of questions behind it.
func percent(p fermata.Share) string {
	if p.Value == nil {
		return "–"
	}
	return strconv.FormatFloat(float64(int64(*p.Value*1000+0.5))/10, 'f', -1, 64) + "% of " + formatCount(p.N)
}

func newTable(first []terminal.Column, rest []terminal.Column) *terminal.Table {
	return &terminal.Table{Columns: append(append([]terminal.Column{}, first...), rest...)}
}

func summaryTable(_ *session.Session, r *fermata.AnalyticsSummary) *terminal.Table {
	t := newTable([]terminal.Column{{Head: "OF", Flex: true}}, figureColumns)
	t.Add(append([]string{"all"}, figureCells(r.Figures)...)...)
	for _, typ := range r.Types {
		t.Add(append([]string{string(typ.Type)}, figureCells(typ.Figures)...)...)
	}
	for _, channel := range r.Channels {
		name := "by " + channel.Channel
		if channel.Channel == "" {
			name = "by another way"
		}
		t.Add(append([]string{name, "", "", ""}, answerCells(channel.AnswerFigures)...)...)
	}
	return t
}

func seriesTable(_ *session.Session, r *fermata.AnalyticsSeries) *terminal.Table {
	t := newTable([]terminal.Column{{Head: "FROM"}}, figureColumns)
	for _, step := range r.Items {
		t.Add(append([]string{step.From.UTC().Format("2006-01-02 15:04")}, figureCells(step.Figures)...)...)
	}
	return t
}

func questionsTable(s *session.Session, r *fermata.AnalyticsQuestions) *terminal.Table {
	t := newTable([]terminal.Column{{Head: "QUESTION", Flex: true}, {Head: "NEWEST"}}, figureColumns)
	for _, q := range r.Items {
		t.Add(append([]string{q.Title, s.IDText(q.QuestionID)}, figureCells(q.Figures)...)...)
	}
	return t
}

func respondersTable(s *session.Session, r *fermata.AnalyticsResponders) *terminal.Table {
	t := newTable([]terminal.Column{{Head: "WHO", Flex: true}}, answerColumns)
	for _, person := range r.Items {
		who := person.Handle
		if who == "" {
			who = s.IDText(person.ID)
		}
		t.Add(append([]string{who}, answerCells(person.AnswerFigures)...)...)
	}
	return t
}

func projectsTable(_ *session.Session, r *fermata.AnalyticsProjects) *terminal.Table {
	t := newTable([]terminal.Column{{Head: "PROJECT", Flex: true}}, figureColumns)
	for _, p := range r.Items {
		t.Add(append([]string{p.Project}, figureCells(p.Figures)...)...)
	}
	return t
}
