package workflow

import (
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// closedAnswer returns the answer to a closed question, in the form that expressions see as pendingQuestion. It reports
// isSkipped if nobody answered in time and the step is skipped, and returns an error if the step fails.
func closedAnswer(q *fermata.Question) (answer map[string]any, isSkipped bool, err error) {
	r := q.Resolution
	switch {
	case q.Status == fermata.Answered, q.Status == fermata.TimedOut && r.Outcome == fermata.TakeDefault:
		return answerOf(q, r.Answers, r.AnsweredBy, r.At, r.Comment), false, nil
	case q.Status == fermata.TimedOut && r.Outcome == fermata.SkipTask:
		return nil, true, nil
	case q.Status == fermata.TimedOut:
		return nil, false, permanentError(codeQuestionTimeout, fermata.Errorf(fermata.CodeQuestionClosed, "%s", nobodyAnswered))
	case isUnanswered(q):
		return unansweredAnswer(q), false, nil
	case r == nil:
		return nil, false, permanentError(codeWithdrawn, fermata.Errorf(fermata.CodeQuestionClosed, "the question was not answered: it is %s", q.Status))
	}
	return nil, false, permanentError(codeWithdrawn, fermata.Errorf(fermata.CodeQuestionClosed, "%s", withReason("the question was withdrawn", r.Comment)))
}

// nobodyAnswered is the note of a step, and its error, if the deadline of its question passed.
const nobodyAnswered = "nobody answered in time"

// isUnanswered reports whether a person let the run go on without an answer. An approval is never given in this way.
func isUnanswered(q *fermata.Question) bool {
	return q.Status == fermata.Cancelled && q.Resolution.DecideYourself && q.Type != fermata.Approval
}

// unansweredAnswer returns the answer to a question that a person left unanswered: its default, or nothing.
func unansweredAnswer(q *fermata.Question) map[string]any {
	defaults, _ := q.Defaults()
	answer := answerOf(q, defaults, nil, q.Resolution.At, q.Resolution.Comment)
	answer["source"] = "default"
	if len(defaults) == 0 {
		answer["source"] = "none"
	}
	return answer
}

// noteUnanswered adds a note to a step if a person let the run go on without the answer to its question.
func noteUnanswered(row *fermata.WorkflowStep, q *fermata.Question) {
	if isUnanswered(q) {
		row.Note = decidedBy(q) + " let the run go on without an answer"
	}
}

// singleAnswer returns the only answer of a question. If there are more, it
// returns all of them by key.
func singleAnswer(answers map[string]any) any {
	if len(answers) == 1 {
		for _, v := range answers {
			return v
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return answers
}

// answerOf returns an answer in the form that expressions see as
// pendingQuestion.
func answerOf(q *fermata.Question, answers map[string]any, by *fermata.Actor, at time.Time, comment string) map[string]any {
	out := answerFields(q, answers, at, comment)
	out["source"] = map[fermata.ActorKind]string{fermata.ActorHuman: "human", fermata.ActorTimeout: "timeout", fermata.ActorPolicy: "auto"}[q.Resolution.DecidedBy]
	if by != nil {
		out["by"] = by.Name
	}
	if q.Type == fermata.Approval {
		out["decision"], out["action"] = out["answer"], nil
		if q.Approvals != nil && q.Approvals.Required > 1 {
			out["votes"] = votesOf(q)
			if q.Resolution.DecidedBy == fermata.ActorHuman {
				out["by"] = votersFor(q, out["decision"])
			}
		}
		if action := q.Resolution.Action; len(action) > 0 {
			out["action"] = decodeJSON(action)
		} else if len(q.Action) > 0 {
			out["action"] = decodeJSON(q.Action)
		}
	}
	return out
}

// answerFields returns the fields that every answer has. Its source is "default". The option is null if the answer is no text.
func answerFields(q *fermata.Question, answers map[string]any, at time.Time, comment string) map[string]any {
	out := map[string]any{
		"id": q.ID, "answer": singleAnswer(answers), "answers": answers, "option": nil, "comment": comment, "by": nil, "at": at.Format(time.RFC3339), "source": "default",
	}
	if option, ok := out["answer"].(string); ok {
		out["option"] = option
	}
	return out
}

// fillAnswer adds as null the fields that an answer lacks, because expressions may name all of them.
func fillAnswer(answer map[string]any) {
	for _, name := range definition.QuestionNames() {
		if _, ok := answer[name]; !ok {
			answer[name] = nil
		}
	}
}

// votesOf returns the votes on an approval in the order in which they came.
func votesOf(q *fermata.Question) []any {
	votes := make([]any, 0, len(q.Votes))
	for i := range q.Votes {
		v := &q.Votes[i]
		votes = append(votes, map[string]any{"by": v.By.Name, "decision": v.Value, "comment": v.Comment, "at": v.At.Format(time.RFC3339)})
	}
	return votes
}

// votersFor returns the names of all people who voted for the decision.
func votersFor(q *fermata.Question, decision any) string {
	var names []string
	for i := range q.Votes {
		if q.Votes[i].Value == decision {
			names = append(names, q.Votes[i].By.Name)
		}
	}
	return strings.Join(names, ", ")
}
