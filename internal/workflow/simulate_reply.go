package workflow

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// openQuestion is a question that a step of the run waits for, and the reply to it.
type openQuestion struct {
	step     string
	question *fermata.Question
	reply    *chosenReply
}

// chosenReply is the reply that belongs to a question until the question closes.
type chosenReply struct {
	Reply
	// number counts the questions of the step, from 1.
	number int
	// isMissing says that the script has no reply.
	isMissing bool
	// entries is how many entries of the script are used when the question closes.
	entries int
}

// openQuestions returns the questions that the steps of a run wait for, in the order of the steps and items. Each of them has
// its reply, which no other question gets.
func (r *simulation) openQuestions(ctx context.Context, run *fermata.WorkflowRun) ([]openQuestion, error) {
	var open []openQuestion
	for _, s := range run.Steps {
		if s.QuestionID == "" || s.State != fermata.StepWaiting {
			continue
		}
		q, err := r.e.Question(ctx, tester, s.QuestionID)
		if err != nil {
			return nil, err
		}
		if q.Status == fermata.Pending {
			open = append(open, openQuestion{s.Step, q, r.replyTo(ctx, s.Step, q)})
		}
	}
	return open, nil
}

// replyTo returns the reply to a question. It chooses the next one of the script when it sees the question for the first time.
func (r *simulation) replyTo(ctx context.Context, step string, q *fermata.Question) *chosenReply {
	if known := r.replies[q.ID]; known != nil {
		return known
	}
	r.askCounts[step]++
	chosen := &chosenReply{number: r.askCounts[step]}
	r.replies[q.ID], r.prompts[step] = chosen, promptOf(q)
	replies := r.script.Answers[step]
	switch list, isAnswer := replies.asAnswerTo(q); {
	case r.script.isGuessed:
		chosen.Reply = r.guessReply(ctx, step, q)
	case len(replies) == 0:
		chosen.isMissing = true
	case isAnswer:
		chosen.Reply, chosen.entries = Reply{Answer: list}, len(replies)
	default:
		chosen.entries = min(chosen.number, len(replies))
		chosen.Reply = replies[chosen.entries-1]
	}
	if chosen.Timeout {
		r.noteUse(step, chosen)
	}
	return chosen
}

// asAnswerTo returns a list of plain values as one answer, if the question takes a list and all of these values.
func (replies Replies) asAnswerTo(q *fermata.Question) (list []any, isAnswer bool) {
	item := onlyRequiredItem(q)
	if item == nil || item.ResponseType != fermata.ResponseMultiChoice || len(replies) < 2 {
		return nil, false
	}
	for i := range replies {
		if !replies[i].isPlain {
			return nil, false
		}
		list = append(list, replies[i].Answer)
	}
	_, err := item.Normalize(typedValue(item, list))
	return list, err == nil
}

// noteUse notes that entries of the script are used for a step.
func (r *simulation) noteUse(step string, reply *chosenReply) {
	r.usedReplies[step] = max(r.usedReplies[step], reply.entries)
}

// promptOf returns the text of a question.
func promptOf(q *fermata.Question) string {
	if len(q.Items) > 0 && q.Type != fermata.Approval {
		return q.Items[0].Prompt
	}
	return q.Title
}

// answer gives the reply to an open question. A question that needs several votes stays open, and the next call is the vote of
// another person.
func (r *simulation) answer(ctx context.Context, o openQuestion) {
	q := o.question
	switch {
	case o.reply.isMissing:
		r.addFailure("the step %s asks %q, and the script has no answer for it", o.step, promptOf(q))
		return
	case o.reply.number > maxRemedies && q.Type == fermata.ErrorRecovery:
		r.addFailure("the step %s failed and asked %d times, and the answers try it again", o.step, maxRemedies)
		return
	}
	r.noteUse(o.step, o.reply)
	answer, err := o.reply.answerTo(q)
	if err == nil {
		_, err = r.e.Answer(ctx, r.voters[len(q.Votes)%len(r.voters)], q.ID, answer)
	}
	if err != nil && fermata.CodeOf(err) != fermata.CodeQuestionClosed {
		r.addFailure("the answer to the step %s is refused: %s", o.step, err)
	}
}

// maxRemedies is how often a step may fail and ask in a test. Nothing else limits it, so a test whose last answer is retry
// would never end.
const maxRemedies = 50

// answerTo returns the reply as the answer to a question. If the question has several items, a single answer belongs to
// the only required one. A text may be what a person types, such as the label of an option.
func (reply *Reply) answerTo(q *fermata.Question) (fermata.Answer, error) {
	answer := fermata.Answer{Comment: reply.Comment, ActionHash: q.ActionHash, Action: json.RawMessage(reply.Action)}
	// Answers are JSON values, and JSON has one type of number.
	err := errors.Join(json.Unmarshal(encodeJSON(reply.Answer), &answer.Answer), json.Unmarshal(encodeJSON(reply.Answers), &answer.Answers))
	if err != nil {
		return answer, err
	}
	item := onlyRequiredItem(q)
	if answer.Answer != nil && item != nil {
		value := typedValue(item, answer.Answer)
		if answer.Answer = value; len(q.Items) > 1 {
			answer.Answer, answer.Answers = nil, map[string]any{item.Key: value}
		}
	}
	if q.Type != fermata.ErrorRecovery {
		return answer, nil
	}
	if input, ok := answer.Answers[fermata.RemedyInputKey].(map[string]any); ok {
		answer.Answers[fermata.RemedyInputKey] = string(encodeJSON(input))
	}
	if answer.Answers[fermata.RemedyKey] == fermata.RemedyRetryWithInput && answer.Answers[fermata.RemedyInputKey] == nil {
		return answer, fermata.Errorf(fermata.CodeInvalidRequest, "%s has no input: write {answers: {action: %s, input: {…}}}", fermata.RemedyRetryWithInput, fermata.RemedyRetryWithInput)
	}
	return answer, nil
}

// onlyRequiredItem returns the only item, or the only one that is required. It returns nil if none or several are
// required.
func onlyRequiredItem(q *fermata.Question) *fermata.Item {
	var found *fermata.Item
	for i := range q.Items {
		item := &q.Items[i]
		switch {
		case len(q.Items) > 1 && !item.IsRequired():
		case found != nil:
			return nil
		default:
			found = item
		}
	}
	return found
}

// typedValue converts a text that a person may type, or a list of such texts, to a value of the item. It returns a valid value,
// and what it cannot convert, unchanged.
func typedValue(item *fermata.Item, given any) any {
	if _, err := item.Normalize(given); err == nil {
		return given
	}
	text, isText := given.(string)
	if _, isList := given.([]any); isList && item.ResponseType == fermata.ResponseMultiChoice {
		text, isText = string(encodeJSON(given)), true
	}
	if !isText {
		return given
	}
	if value, err := notice.ParseValue(item, text); err == nil {
		return value
	}
	return given
}
