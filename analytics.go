package fermata

import (
	"strings"
	"time"
	"unicode"
)

// ReflexWithin is how quickly an answer comes that nobody can have thought
// about.
const ReflexWithin = 2 * time.Second

// MaxAlike is the length of what [Alike] returns in characters.
const MaxAlike = 80

// Share is a part of a whole. It always names the number of which it is one.
type Share struct {
	// Value is from 0 to 1; nil when there is nothing to take a part of.
	Value *float64 `json:"value"`
	N     int64    `json:"n" doc:"of how many"`
}

// Times are how long something took: seconds of three digits, by the nearest
// rank.
type Times struct {
	// Median and P90 are nil when nothing was timed.
	Median *float64 `json:"median_seconds"`
	P90    *float64 `json:"p90_seconds"`
	N      int64    `json:"n" doc:"of how many"`
}

// AnswerFigures are about what people answered.
type AnswerFigures struct {
	// Answered is how many questions people answered.
	Answered int64 `json:"answered" doc:"by people"`
	// TimeToAnswer is from asking to a person's answer.
	TimeToAnswer Times `json:"time_to_answer"`
	// Reflex is the part of the answers that came within two seconds.
	Reflex Share `json:"reflex"`
}

// Figures are about questions that were asked in a period, as they stand now.
type Figures struct {
	// Asked is how many: the sum of the five below.
	Asked   int64 `json:"asked"`
	Pending int64 `json:"pending"`
	AnswerFigures
	// ByRule is how many a rule answered, so that nobody was waited for.
	ByRule    int64 `json:"by_rule"`
	TimedOut  int64 `json:"timed_out"`
	Cancelled int64 `json:"cancelled"`
	// TimeoutRate is the part that timed out of those that a person answered
	// or nobody did.
	TimeoutRate Share `json:"timeout_rate"`
}

// Period is a stretch of time: from an instant, until before another.
type Period struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// TypeFigures are the figures of one type of question.
type TypeFigures struct {
	Type QuestionType `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Figures
}

// ChannelFigures are about what came by one channel; "" is one without a name.
type ChannelFigures struct {
	Channel string `json:"channel"`
	AnswerFigures
}

// AnalyticsSummary is a period at a glance.
type AnalyticsSummary struct {
	Period
	Figures
	// Types has every type that was asked, Channels every one that was
	// answered by, the most used first.
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

// Length returns how long a step is; 0 for one that there is not.
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

// SeriesStep are the figures of the questions asked in one step.
type SeriesStep struct {
	Period
	Figures
}

// AnalyticsSeries is a period step by step, also where nothing was asked. The
// steps are counted from the beginning of the period; the last may be shorter.
type AnalyticsSeries struct {
	Period
	Interval SeriesInterval `json:"interval" enum:"hour,day,week"`
	Items    []SeriesStep   `json:"items"`
}

// AlikeFigures are the figures of questions that are asked in the same words.
type AlikeFigures struct {
	// Title and QuestionID are those of the newest.
	Title      string `json:"title"`
	QuestionID string `json:"question_id"`
	Figures
}

// AnalyticsQuestions are the questions that were asked most often, of those
// that have closed.
type AnalyticsQuestions struct {
	Period
	// Closed is how many questions have closed, of which these are the most
	// common ones.
	Closed int64          `json:"closed"`
	Items  []AlikeFigures `json:"items"`
}

// ResponderFigures are about what one person answered.
type ResponderFigures struct {
	ID string `json:"id"`
	// Handle is empty for a person who is no member any more.
	Handle string `json:"handle,omitempty"`
	AnswerFigures
}

// AnalyticsResponders are the people who answered, the busiest first. An
// approval that several gave counts for the one whose vote decided it.
type AnalyticsResponders struct {
	Period
	Items []ResponderFigures `json:"items"`
}

// ProjectFigures are the figures of one project.
type ProjectFigures struct {
	Project string `json:"project"`
	Figures
}

// AnalyticsProjects are the projects that asked, the busiest first.
type AnalyticsProjects struct {
	Period
	Items []ProjectFigures `json:"items"`
}

// Alike returns what questions have in common that are asked again and again:
// the title in lower case, with # for every word that has a digit.
func Alike(title string) string {
	words := strings.Fields(strings.ToLower(title))
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			// What ends the sentence belongs to it, and not to the number.
			words[i] = "#" + word[len(strings.TrimRightFunc(word, unicode.IsPunct)):]
		}
	}
	runes := []rune(strings.Join(words, " "))
	return strings.TrimSpace(string(runes[:min(len(runes), MaxAlike)]))
}
