package fermata

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
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

// CheckMayAnswer returns nil if the caller may answer the question, and otherwise
// [CodeNotEligible] with the reason. Every channel uses this one rule
// (docs/inside/contract.md#who-may-answer). It does not check the assurance;
// [Question.CheckMayDecide] does.
func (q *Question) CheckMayAnswer(c Caller) error {
	switch {
	case c.Kind != ActorHuman:
		return Errorf(CodeNotEligible, "only people answer; this token is an agent's").
			WithHint("ask a person to answer in the inbox or with fermata respond")
	case !c.RoleIn(q.Project).AtLeast(RoleResponder):
		return Errorf(CodeNotEligible, "the role %s may not answer in the project %s", c.RoleIn(q.Project), q.Project)
	case !c.Has(ScopeAnswer):
		return c.missingScopeError(ScopeAnswer)
	case c.MemberID != "" && q.AskedBy.ID == c.MemberID && q.Approvals != nil && !q.Approvals.Self:
		return Errorf(CodeNotEligible, "the one who asked may not approve")
	case !q.isAssignedTo(c):
		return Errorf(CodeNotEligible, "the question is for %s", strings.Join(q.Assignees, ", "))
	}
	return nil
}

// checkMayDecide returns nil if the caller may answer q and is signed in strongly
// enough for its risk.
func (q *Question) checkMayDecide(c Caller) error {
	if err := q.CheckMayAnswer(c); err != nil {
		return err
	}
	return q.CheckAssurance(c)
}

// CheckAssurance refuses a person whose assurance is below the one that the
// policy requires. The person may see the question, and may answer it after a
// stronger sign-in.
func (q *Question) CheckAssurance(c Caller) error {
	least := q.leastAssurance(c.WithoutSignIn)
	if least == "" || c.Assurance.AtLeast(least) {
		return nil
	}
	hint := "sign in with a browser and answer there"
	if c.SessionID != "" {
		hint = "sign out of this browser and sign in again: your last sign-in was too long ago, or by a link that a token made"
	}
	if least == AssurancePasskey {
		hint = "answer in the browser, where your passkey signs the answer"
		if q.Risk == RiskCritical && q.Approvals == nil {
			hint += "; or ask for the approval of two people (approvals), each signed in with a browser"
		}
	}
	return Errorf(CodeNotEligible, "the policy asks for more to answer this: you are known by %s, a question of %s risk needs %s",
		c.Assurance, q.Risk, least).WithHint("%s", hint)
}

// leastAssurance returns the assurance that a person needs to decide the question. The argument withoutSignIn means
// that the answer comes over a channel or by a link. An empty result means that any assurance is enough.
func (q *Question) leastAssurance(withoutSignIn bool) Assurance {
	if q.LeastAssurance == "" && (withoutSignIn || defaultAssurance[q.Risk] != "") {
		return q.fallbackAssurance()
	}
	return q.LeastAssurance
}

// fallbackAssurance returns the assurance that is required if the policy sets none. It applies over a channel and by
// a link, and to high and critical risks everywhere. For a low risk, the link is enough. For a medium risk, the
// person's identity in the channel is enough. A high risk needs a sign-in. A critical risk needs two people or a
// passkey.
func (q *Question) fallbackAssurance() Assurance {
	switch q.Risk {
	case RiskMedium:
		return AssuranceChannel
	case RiskHigh:
		return AssuranceSession
	case RiskCritical:
		if q.Approvals != nil && q.Approvals.Required > 1 {
			return AssuranceSession
		}
		return AssurancePasskey
	default:
		return AssuranceLink
	}
}

// CheckMayDecide returns nil if the caller may answer the question and is signed in
// strongly enough for its risk.
func (q *Question) CheckMayDecide(c Caller) error { return q.checkMayDecide(c) }

// isAssignedTo reports whether the caller is an assignee: the question names
// the caller's handle, id, group or role, or it has no assignees and so is for
// all.
func (q *Question) isAssignedTo(c Caller) bool {
	if len(q.Assignees) == 0 {
		return true
	}
	return slices.ContainsFunc(q.Assignees, func(a string) bool {
		if group, ok := strings.CutPrefix(a, "group:"); ok {
			return slices.Contains(c.Groups, group)
		}
		if role, ok := strings.CutPrefix(a, "role:"); ok {
			return string(c.RoleIn(q.Project)) == role
		}
		name := strings.TrimPrefix(a, "member:")
		return name != "" && (name == c.Name || name == c.MemberID)
	})
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
	if err := q.checkMayDecide(c); err != nil {
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
	if err := q.checkMayDecide(c); err != nil {
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
		return Invalid(Problem{Field: "action", Message: "an edited action goes with approve, and with a question that has an action"})
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
			ps.add(fieldName, "%s", err)
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

// OwnWordsHint returns the advice for a person whose answer is not one of the options.
func (q *Question) OwnWordsHint() string {
	return fmt.Sprintf("to say something else: pick an option and put your words beside it (comment, --comment), write to the agent "+
		"(message: fermata message %s TEXT), or ask it back (clarify: fermata clarify %s TEXT); the question stays open meanwhile", q.TaskID, q.ID)
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
		return 0, Errorf(CodePolicyViolation, "%d people had to approve before the deadline, and one alone does not approve after it", q.Approvals.Required).
			WithHint("let it be asked again")
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

// vote counts a person's vote. Each person has one vote, even if the person
// votes over several channels.
func (q *Question) vote(r Resolution, now time.Time) (AnswerOutcome, error) {
	value, _ := r.Answers[q.Items[0].Key].(string)
	voteIndex := slices.IndexFunc(q.Votes, func(v Vote) bool { return v.By.ID == r.AnsweredBy.ID })
	if voteIndex < 0 {
		q.Votes = append(q.Votes, Vote{By: *r.AnsweredBy, Value: value, Comment: r.Comment, Assurance: r.Assurance, At: now, Signed: r.Signed})
	} else if v := q.Votes[voteIndex]; v.Value != value {
		return 0, Errorf(CodeInvalidRequest, "you voted %s at %s, and a vote stands", v.Value, v.At.Format(time.RFC3339)).
			WithHint("cancel and ask again to vote anew")
	} else if err := q.checkRepeatedComment(Answer{Comment: r.Comment}, v.Comment); err != nil {
		return 0, err
	}
	// A repeated vote starts a new count, because a vote that was discounted
	// before may count at this call.
	approvals, rejections := q.countVotes()
	needed := 1
	if q.Approvals.Reject == "majority" {
		needed = q.Approvals.Required/2 + 1
	}
	switch {
	case rejections >= needed:
		r.Answers = map[string]any{q.Items[0].Key: Reject}
	case approvals >= q.Approvals.Required:
		r.Answers = map[string]any{q.Items[0].Key: Approve}
	case voteIndex >= 0:
		return AnswerRepeats, nil
	default:
		return AnswerVotes, nil
	}
	q.close(r)
	return AnswerCloses, nil
}

func (q *Question) countVotes() (approvals, rejections int) {
	for _, v := range q.Votes {
		switch {
		case v.Value != Approve:
			rejections++
		case !q.DiscountedMembers[v.By.ID]:
			approvals++
		}
	}
	return approvals, rejections
}

// voteOf returns the caller's vote, or nil if there is none.
func (q *Question) voteOf(c Caller) *Vote {
	for i := range q.Votes {
		if q.Votes[i].By.ID == c.MemberID {
			return &q.Votes[i]
		}
	}
	return nil
}
