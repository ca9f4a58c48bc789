package fermata

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Answer is the answer that a person submits.
type Answer struct {
	// Answer is the value if the question has one item.
	Answer any `json:"answer,omitempty"`
	// Answers holds the values by item key if the question has several items.
	Answers map[string]any `json:"answers,omitempty"`
	Comment string         `json:"comment,omitempty" maxLength:"20000"`
	// Restart makes the task go on with a late answer.
	Restart bool `json:"restart,omitempty"`
	// ActionHash names the action that the person saw.
	ActionHash string `json:"action_hash,omitempty"`
	// Action is an edited action. The person approves it instead of the action
	// that the question shows.
	Action json.RawMessage `json:"action,omitempty"`
	// Channel is the channel over which the person answered, such as web, cli or slack.
	Channel string `json:"channel,omitempty" maxLength:"40"`
	// Undo holds the answer for some seconds, so that its author can take it back.
	Undo bool `json:"undo,omitempty"`
	// Signature is the signature of the person's passkey, for a question that requires one.
	Signature *AnswerSignature `json:"signature,omitempty" doc:"where the question needs_signature: see POST /v1/questions/{id}/decision"`
	// Signed is the signature after the server has checked it. Only the server sets it.
	Signed *SignedDecision `json:"-"`
}

// AnswerOutcome is the effect of an answer.
type AnswerOutcome int

// Outcomes of an answer.
const (
	// AnswerCloses means that the answer closed the question.
	AnswerCloses AnswerOutcome = iota
	// AnswerRepeats means that the same person gave the same answer before.
	AnswerRepeats
	// AnswerVotes means that the answer is one of several votes that are needed.
	AnswerVotes
	// AnswerLate means that the answer came after the deadline and was stored.
	AnswerLate
	// AnswerHeld means that the answer is stored until it is released or taken back.
	AnswerHeld
)

// ApplyAnswer applies a person's answer to the question. Only ApplyAnswer and
// [Question.Release] close a question with a person's answer. The question must
// not be [Question.IsDecided]: the caller must expire an overdue question first.
func (q *Question) ApplyAnswer(a Answer, c Caller, now time.Time) (AnswerOutcome, error) {
	if q.isClosed() || q.HeldAnswer != nil {
		return q.applyToDecided(a, c, now)
	}
	r, err := q.resolve(a, c, now)
	if err != nil {
		return 0, err
	}
	if q.Approvals != nil && q.Approvals.Required > 1 {
		return q.vote(r, now)
	}
	q.close(r)
	return AnswerCloses, nil
}

// applyToDecided applies an answer to a question that is closed or that has a held answer.
func (q *Question) applyToDecided(a Answer, c Caller, now time.Time) (AnswerOutcome, error) {
	c = a.withSignedAssurance(c)
	if err := q.CheckMayDecide(c); err != nil {
		return 0, err
	}
	a.Action = dropNull(a.Action)
	answers, err := q.normalize(a)
	switch {
	case err != nil:
		return 0, err
	case q.isClosed():
		return q.applyToClosed(a, answers, c, now)
	default:
		return q.applyToHeld(a, answers, c)
	}
}

// resolve checks a person's answer together with its signature, and returns the
// resolution with this answer.
func (q *Question) resolve(a Answer, c Caller, now time.Time) (Resolution, error) {
	c = a.withSignedAssurance(c)
	r, err := q.resolveUnsigned(a, c, now)
	if err != nil {
		return r, err
	}
	r.Signed = a.Signed
	return r, q.checkSignature(&a, &r, c, now)
}

// resolveUnsigned checks a person's answer without its signature, and returns
// the resolution with this answer.
func (q *Question) resolveUnsigned(a Answer, c Caller, now time.Time) (Resolution, error) {
	if err := q.CheckMayDecide(c); err != nil {
		return Resolution{}, err
	}
	a.Action = dropNull(a.Action)
	answers, err := q.normalize(a)
	if err != nil {
		return Resolution{}, err
	}
	if err := q.checkMayGiveInput(answers, c); err != nil {
		return Resolution{}, err
	}
	if err := q.checkActionSeen(a, answers); err != nil {
		return Resolution{}, err
	}
	by := c.Actor()
	r := Resolution{
		Status: Answered, DecidedBy: ActorHuman, AnsweredBy: &by, At: now, Answers: answers,
		Comment: a.Comment, Channel: a.Channel, Assurance: c.Assurance, ActionHash: a.ActionHash,
	}
	if len(a.Action) > 0 {
		r.Action, r.ActionHash = CanonicalAction(a.Action), HashAction(a.Action)
	}
	return r, nil
}

// checkActionSeen checks that an approval names the action that the person was shown.
func (q *Question) checkActionSeen(a Answer, answers map[string]any) error {
	if q.Type != Approval {
		if len(a.Action) > 0 || a.ActionHash != "" {
			return Invalid(Problem{Field: "action_hash", Message: "belongs to an approval"})
		}
		return nil
	}
	approves := answers[q.Items[0].Key] == Approve
	if approves && a.ActionHash != q.ActionHash {
		return (&Error{
			Code: CodeInvalidRequest, Message: "the answer must name the action that was seen",
			Problems: []Problem{{Field: "action_hash", Message: "is not the hash of the action that is asked for"}},
		}).WithHint("read the question again and send its action_hash")
	}
	if approves && q.ActionHash != "" && !HasHash(q.Action, q.ActionHash) {
		// The person reads the action, but the hash unlocks it. Anyone with
		// write access to the database could have changed one of them.
		return Errorf(CodePolicyViolation, "the action that is shown is not the one that was asked for: it was changed in the database").
			WithHint("withdraw the question, and look at who writes the database: fermata audit verify")
	}
	if len(a.Action) == 0 {
		return nil
	}
	if !approves || q.ActionHash == "" {
		return Invalid(Problem{Field: "action", Message: "only an approval of a question that has an action may edit the action"})
	}
	var ps problems
	if !ps.checkAction(a.Action) {
		return Invalid(ps...)
	}
	if q.Approvals != nil && q.Approvals.Required > 1 {
		return Invalid(Problem{Field: "action", Message: "an action that several people approve cannot be edited by one of them"})
	}
	return checkEdit(q.Action, a.Action)
}

// normalize checks an answer against the items and returns its values by item key.
func (q *Question) normalize(a Answer) (map[string]any, error) {
	var ps problems
	ps.checkText("comment", a.Comment, 0, MaxAnswerText)
	ps.checkAnswerChannel(a.Channel)
	given, field := a.Answers, "answers."
	switch {
	case a.Answer != nil && a.Answers != nil:
		return nil, Invalid(Problem{Field: "answer", Message: "give either answer or answers"})
	case a.Answer != nil && len(q.Items) > 1:
		return nil, Invalid(Problem{Field: "answers", Message: fmt.Sprintf("the question has %d items: give answers by key", len(q.Items))})
	case a.Answer != nil:
		given = map[string]any{q.Items[0].Key: a.Answer}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if q.Item(key) == nil {
			ps.add("answers."+key, "names no item of the question")
		}
	}
	answers := make(map[string]any, len(q.Items))
	outsideOptions := false
	for i := range q.Items {
		it := &q.Items[i]
		fieldName := field + it.Key
		if len(q.Items) == 1 {
			fieldName = "answer"
		}
		value, ok := given[it.Key]
		if !ok || value == nil {
			if it.IsRequired() {
				ps.add(fieldName, "is required")
			}
			continue
		}
		v, err := it.Normalize(value)
		if err != nil {
			ps.addError(fieldName, err)
			outsideOptions = outsideOptions || it.IsStrict()
			continue
		}
		answers[it.Key] = v
	}
	switch {
	case len(ps) == 0:
		return answers, q.checkRemedy(answers)
	case outsideOptions:
		return nil, Invalid(ps...).WithHint("%s", q.OwnWordsHint())
	default:
		return nil, Invalid(ps...)
	}
}

// checkAnswerChannel checks the channel of an answer, because lists and the audit show it.
func (ps *problems) checkAnswerChannel(name string) {
	found := len(*ps)
	ps.checkText("channel", name, 0, 40)
	if found == len(*ps) && strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		ps.add("channel", "must be a name such as web or cli, without spaces")
	}
}

// applyToClosed applies an answer to a closed question. It accepts a repeated
// answer, and stores a late one. Any other answer is a conflict, and its error
// names the answer that won.
func (q *Question) applyToClosed(a Answer, answers map[string]any, c Caller, now time.Time) (AnswerOutcome, error) {
	r := q.Resolution
	same := func(by Actor, values map[string]any) bool {
		return by.ID == c.Actor().ID && sameAnswers(values, answers)
	}
	if v := q.voteOf(c); v != nil && v.Value == answers[q.Items[0].Key] {
		return AnswerRepeats, q.checkRepeatedComment(a, v.Comment)
	}
	if r.Status == Answered && r.AnsweredBy != nil && same(*r.AnsweredBy, r.Answers) && r.sameEdit(a.Action) {
		return AnswerRepeats, q.checkRepeatedComment(a, r.Comment)
	}
	for i := range r.LateAnswers {
		if !same(r.LateAnswers[i].By, r.LateAnswers[i].Answers) {
			continue
		}
		if err := q.checkRepeatedComment(a, r.LateAnswers[i].Comment); err != nil {
			return 0, err
		}
		if !a.Restart || r.LateAnswers[i].Restarted {
			return AnswerRepeats, nil
		}
		if err := q.checkActionSeen(a, answers); err != nil {
			return 0, err
		}
		// The answer was stored before, and its author asks for the restart
		// with this repetition.
		r.LateAnswers[i].Restarted = true
		return AnswerLate, nil
	}
	if r.Status != TimedOut {
		return 0, q.ClosedError()
	}
	late, err := q.resolve(a, c, now)
	switch {
	case err != nil:
		return 0, err
	case len(r.LateAnswers) > 0:
		return 0, q.ClosedError()
	case q.Approvals != nil && q.Approvals.Required > 1 && answers[q.Items[0].Key] == Approve:
		return 0, Errorf(CodePolicyViolation, "%d people had to approve before the deadline, so one person alone cannot approve after it", q.Approvals.Required).
			WithHint("ask again")
	case len(late.Action) > 0:
		return 0, Invalid(Problem{Field: "action", Message: "an edited action cannot be approved after the deadline: nothing runs by a late answer"})
	}
	r.LateAnswers = append(r.LateAnswers, LateAnswer{By: c.Actor(), At: now, Answers: answers, Comment: a.Comment, Restarted: a.Restart, Signed: late.Signed})
	return AnswerLate, nil
}

// checkRepeatedComment refuses a repeated answer whose comment was not stored with the first one. A person's comment is never
// dropped without an error.
func (q *Question) checkRepeatedComment(a Answer, stored string) error {
	if comment := strings.TrimSpace(a.Comment); comment == "" || comment == strings.TrimSpace(stored) {
		return nil
	}
	e := Errorf(CodeQuestionClosed, "you gave this answer before, and your comment came too late to be kept with it")
	e.Question = q
	return e.WithHint("write it into the thread of the task: fermata message %s TEXT", q.TaskID)
}

// sameEdit reports whether the answer approves the same action as before: both
// are edited to the same bytes, or neither is edited.
func (r *Resolution) sameEdit(action json.RawMessage) bool {
	if len(action) == 0 || len(r.Action) == 0 {
		return len(action) == len(r.Action)
	}
	return HasHash(action, r.ActionHash)
}

// sameAnswers reports whether stored values equal values that were just
// normalized. JSON decodes a stored []string as []any.
func sameAnswers(stored, given map[string]any) bool {
	if len(stored) != len(given) {
		return false
	}
	for key, v := range given {
		was, ok := stored[key]
		if !ok {
			return false
		}
		if list, isList := asStrings(was); isList {
			was = list
		}
		if !reflect.DeepEqual(was, v) {
			return false
		}
	}
	return true
}
