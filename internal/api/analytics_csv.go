package api

import (
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// answerHead and figureHead are the columns of [answerCells] and [figureCells].
var (
	answerHead = []string{"answered", "median_seconds", "p90_seconds", "time_to_answer_n", "reflex", "reflex_n"}
	figureHead = append([]string{"asked", "pending", "by_rule", "timed_out", "cancelled", "timeout_rate", "timeout_rate_n"}, answerHead...)
)

func answerCells(a fermata.AnswerFigures) []string {
	return []string{
		integer(a.Answered), decimal(a.TimeToAnswer.Median), decimal(a.TimeToAnswer.P90), integer(a.TimeToAnswer.N),
		decimal(a.Reflex.Value), integer(a.Reflex.N),
	}
}

func figureCells(f fermata.Figures) []string {
	return append([]string{
		integer(f.Asked), integer(f.Pending), integer(f.ByRule), integer(f.TimedOut), integer(f.Cancelled),
		decimal(f.TimeoutRate.Value), integer(f.TimeoutRate.N),
	}, answerCells(f.AnswerFigures)...)
}

func integer(n int64) string { return strconv.FormatInt(n, 10) }

// decimal returns the text of a figure, or "" if there is none.
func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// escapeFormula returns a text that a spreadsheet does not execute as a
// formula.
func escapeFormula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// tableOf returns a table. Each row has its cells first and then its figures.
func tableOf[T any](items []T, head, figures []string, row func(T) (cells, figures []string)) [][]string {
	rows := [][]string{append(append([]string{}, head...), figures...)}
	for _, item := range items {
		cells, figures := row(item)
		rows = append(rows, append(cells, figures...))
	}
	return rows
}

// summaryTable has one row for all questions, one for each type and one for
// each channel. Figures that do not exist for channels are empty.
func summaryTable(s fermata.AnalyticsSummary) [][]string {
	rows := tableOf(s.Types, []string{"of", "name"}, figureHead, func(t fermata.TypeFigures) ([]string, []string) {
		return []string{"type", string(t.Type)}, figureCells(t.Figures)
	})
	all := append([]string{"all", ""}, figureCells(s.Figures)...)
	rows = append([][]string{rows[0], all}, rows[1:]...)
	blanks := make([]string, len(figureHead)-len(answerHead))
	for _, c := range s.Channels {
		rows = append(rows, append(append([]string{"channel", escapeFormula(c.Channel)}, blanks...), answerCells(c.AnswerFigures)...))
	}
	return rows
}

func seriesTable(s fermata.AnalyticsSeries) [][]string {
	return tableOf(s.Items, []string{"from", "to"}, figureHead, func(step fermata.SeriesStep) ([]string, []string) {
		return []string{step.From.Format(time.RFC3339), step.To.Format(time.RFC3339)}, figureCells(step.Figures)
	})
}

func questionsTable(s fermata.AnalyticsQuestions) [][]string {
	return tableOf(s.Items, []string{"title", "question_id"}, figureHead, func(q fermata.TitlePatternFigures) ([]string, []string) {
		return []string{escapeFormula(q.Title), q.QuestionID}, figureCells(q.Figures)
	})
}

func respondersTable(s fermata.AnalyticsResponders) [][]string {
	return tableOf(s.Items, []string{"handle", "id"}, answerHead, func(r fermata.ResponderFigures) ([]string, []string) {
		return []string{escapeFormula(r.Handle), r.ID}, answerCells(r.AnswerFigures)
	})
}

func projectsTable(s fermata.AnalyticsProjects) [][]string {
	return tableOf(s.Items, []string{"project"}, figureHead, func(p fermata.ProjectFigures) ([]string, []string) {
		return []string{escapeFormula(p.Project)}, figureCells(p.Figures)
	})
}
