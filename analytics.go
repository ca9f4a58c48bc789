package fermata

import (
	"strings"
	"time"
	"unicode"
)

// ReflexLimit is the time within which an answer is too quick to have been considered.
const ReflexLimit = 2 * time.Second

// MaxTitlePattern is the maximum length of a result of [TitlePattern], in characters.
const MaxTitlePattern = 80

// Share is a part of a whole. It always comes with the size of the whole.
type Share struct {
	// Value is from 0 to 1. It is nil if the whole is empty.
	Value *float64 `json:"value"`
	N     int64    `json:"n" doc:"of how many"`
}

// Times are statistics of durations, in seconds with three decimals.
// Percentiles are taken by the nearest rank.
type Times struct {
	// Median and P90 are nil if nothing was timed.
	Median *float64 `json:"median_seconds"`
	P90    *float64 `json:"p90_seconds"`
	N      int64    `json:"n" doc:"of how many"`
}

// AnswerFigures are the statistics of people's answers.
type AnswerFigures struct {
	// Answered is the number of questions that people answered.
	Answered int64 `json:"answered" doc:"by people"`
	// TimeToAnswer is the time from the question to a person's answer.
	TimeToAnswer Times `json:"time_to_answer"`
	// Reflex is the share of the answers that came within two seconds.
	Reflex Share `json:"reflex"`
}

// Figures are the statistics of the questions that were asked in a period. They
// describe the current state of these questions.
type Figures struct {
	// Asked is the number of questions. It is the sum of Pending, Answered,
	// ByRule, TimedOut and Cancelled.
	Asked   int64 `json:"asked"`
	Pending int64 `json:"pending"`
	AnswerFigures
	// ByRule is the number of questions that a rule answered without waiting for a person.
	ByRule    int64 `json:"by_rule"`
	TimedOut  int64 `json:"timed_out"`
	Cancelled int64 `json:"cancelled"`
	// TimeoutRate is TimedOut as a share of the questions that timed out or
	// were answered by a person.
	TimeoutRate Share `json:"timeout_rate"`
}

// Period is a span of time. It includes From and excludes To.
type Period struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// TypeFigures are the statistics of one type of question.
type TypeFigures struct {
	Type QuestionType `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Figures
}

// ChannelFigures are the statistics of the answers that came over one channel.
// Channel is "" for answers that named no channel.
type ChannelFigures struct {
	Channel string `json:"channel"`
	AnswerFigures
}

// AnalyticsSummary is the summary of a period.
type AnalyticsSummary struct {
	Period
	Figures
	// Types lists every type that was asked. Channels lists every channel that
	// carried an answer. Both begin with the most used one.
	Types    []TypeFigures    `json:"types"`
	Channels []ChannelFigures `json:"channels"`
}

// SeriesInterval is the length of one step of a series.
type SeriesInterval string

// Intervals of a series.
const (
	EveryHour SeriesInterval = "hour"
	EveryDay  SeriesInterval = "day"
	EveryWeek SeriesInterval = "week"
)

// Length returns the length of a step, or 0 if the interval is unknown.
func (i SeriesInterval) Length() time.Duration {
	switch i {
	case EveryHour:
		return time.Hour
	case EveryDay:
		return 24 * time.Hour
	case EveryWeek:
		return 7 * 24 * time.Hour
	default:
		return 0
	}
}

// SeriesStep holds the statistics of the questions that were asked in one step.
type SeriesStep struct {
	Period
	Figures
}

// AnalyticsSeries holds the statistics of each step of a period, including
// steps in which nothing was asked. The steps begin at the start of the period;
// the last one may be shorter.
type AnalyticsSeries struct {
	Period
	Interval SeriesInterval `json:"interval" enum:"hour,day,week"`
	Items    []SeriesStep   `json:"items"`
}

// TitlePatternFigures are the statistics of questions that share their wording (see [TitlePattern]).
type TitlePatternFigures struct {
	// Title and QuestionID belong to the newest of these questions.
	Title      string `json:"title"`
	QuestionID string `json:"question_id"`
	Figures
}

// AnalyticsQuestions lists the questions that were asked most often. It counts
// only closed questions.
type AnalyticsQuestions struct {
	Period
	// Closed is the number of all closed questions of the period. Items covers
	// only the most common ones.
	Closed int64                 `json:"closed"`
	Items  []TitlePatternFigures `json:"items"`
}

// ResponderFigures are the statistics of one person's answers.
type ResponderFigures struct {
	ID string `json:"id"`
	// Handle is empty if the person is not a member.
	Handle string `json:"handle,omitempty"`
	AnswerFigures
}

// AnalyticsResponders lists the people who answered, the busiest first. An
// approval by several people counts for the person whose vote decided it.
type AnalyticsResponders struct {
	Period
	Items []ResponderFigures `json:"items"`
}

// ProjectFigures are the statistics of one project.
type ProjectFigures struct {
	Project string `json:"project"`
	Figures
}

// AnalyticsProjects lists the projects that asked, the busiest first.
type AnalyticsProjects struct {
	Period
	Items []ProjectFigures `json:"items"`
}

// TitlePattern returns the part of a title that repeated questions share: the title in
// lower case, with # for every word that contains a digit, cut to [MaxTitlePattern]
// characters.
func TitlePattern(title string) string {
	words := strings.Fields(strings.ToLower(title))
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			// Punctuation at the end of the word belongs to the sentence and
			// not to the number, so it stays.
			words[i] = "#" + word[len(strings.TrimRightFunc(word, unicode.IsPunct)):]
		}
	}
	runes := []rune(strings.Join(words, " "))
	return strings.TrimSpace(string(runes[:min(len(runes), MaxTitlePattern)]))
}
