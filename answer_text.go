package fermata

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OwnWordsHint returns the advice for a person whose answer is not one of the options.
func (q *Question) OwnWordsHint() string {
	return fmt.Sprintf("to say something else: pick an option and put your words beside it (comment, --comment), write to the agent "+
		"(message: fermata message %s TEXT), or ask it back (clarify: fermata clarify %s TEXT); the question stays open meanwhile", q.TaskID, q.ID)
}

// ClosedError returns the conflict error for an answer to a closed question. It
// says who decided the question, how and when.
func (q *Question) ClosedError() error {
	e := Errorf(CodeQuestionClosed, "the question is closed: %s", q.Resolution.Sentence())
	e.Question = q
	return e.WithHint("%s", q.Resolution.closedHint())
}

// closedHint returns the advice for a person who acted on a closed question.
func (r *Resolution) closedHint() string {
	switch r.Status {
	case Answered:
		return "what was answered stays; write a message to the task, or ask again to get another answer"
	case TimedOut:
		if len(r.LateAnswers) > 0 {
			return fmt.Sprintf("%s answered after the deadline, and that answer was kept; to add something, write a message to the task", r.LateAnswers[0].By.DisplayName())
		}
		return "nobody answered in time; ask again if the answer is still wanted"
	default:
		return "nobody waits for an answer any more; ask again if it is still wanted"
	}
}

// Sentence returns one sentence that says how the question ended.
func (r *Resolution) Sentence() string {
	who := string(r.DecidedBy)
	if r.AnsweredBy != nil && r.AnsweredBy.Name != "" {
		who = r.AnsweredBy.Name
	}
	at := r.At.UTC().Format(time.RFC3339)
	switch r.Status {
	case Answered:
		return fmt.Sprintf("answered by %s at %s: %s", who, at, r.AnswerText())
	case TimedOut:
		if r.Outcome == TakeDefault {
			return fmt.Sprintf("timed out at %s, nobody answered; the default was taken: %s", at, r.AnswerText())
		}
		return fmt.Sprintf("timed out at %s, nobody answered", at)
	default:
		if r.DecideYourself {
			return fmt.Sprintf("closed by %s at %s without an answer", who, at)
		}
		if r.TaskEnded != "" {
			return fmt.Sprintf("closed without an answer at %s, when its task ended as %s", at, r.TaskEnded)
		}
		return fmt.Sprintf("cancelled by %s at %s", who, at)
	}
}

// AnswerText returns the answered values as text for people.
func (r *Resolution) AnswerText() string {
	if r.Answer != nil {
		return valueText(r.Answer)
	}
	parts := make([]string, 0, len(r.Answers))
	for _, key := range slices.Sorted(maps.Keys(r.Answers)) {
		parts = append(parts, key+" = "+valueText(r.Answers[key]))
	}
	return strings.Join(parts, "; ")
}

func valueText(v any) string {
	if list, ok := asStrings(v); ok {
		return strings.Join(list, ", ")
	}
	if n, ok := v.(float64); ok {
		return numberText(n)
	}
	return fmt.Sprint(v)
}

// numberText formats a number for people. It uses an exponent only where the
// digits would be very long.
func numberText(n float64) string {
	if math.Abs(n) >= 1e21 || n != 0 && math.Abs(n) < 1e-7 {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
