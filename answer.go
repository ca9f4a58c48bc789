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
	// Restart makes a late answer start the task again.
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

// MayAnswer returns nil if the caller may answer the question, and otherwise
// [CodeNotEligible] with the reason. Every channel uses this one rule (spec
// §8). It does not check the assurance; [Question.MayDecide] does.
func (q *Question) MayAnswer(c Caller) error {
	switch {
	case c.Kind != ActorHuman:
		return Errorf(CodeNotEligible, "only people answer; this token is an agent's").
			WithHint("ask a person to answer in the inbox or with fermata respond")
	case !c.RoleIn(q.Project).AtLeast(RoleResponder):
		return Errorf(CodeNotEligible, "the role %s may not answer in the project %s", c.RoleIn(q.Project), q.Project)
	case !c.Has(ScopeAnswer):
		return c.missingScope(ScopeAnswer)
	case c.MemberID != "" && q.AskedBy.ID == c.MemberID && q.Approvals != nil && !q.Approvals.Self:
		return Errorf(CodeNotEligible, "the one who asked may not approve")
	case !q.assigned(c):
		return Errorf(CodeNotEligible, "the question is for %s", strings.Join(q.Assignees, ", "))
	}
	return nil
}

// mayDecide returns nil if the caller may answer q and is signed in strongly
// enough for its risk.
func (q *Question) mayDecide(c Caller) error {
	if err := q.MayAnswer(c); err != nil {
		return err
	}
	return q.CheckAssurance(c)
}

// CheckAssurance refuses a person whose assurance is below the one that the
// policy requires. The person may see the question, and may answer it after a
// stronger sign-in.
func (q *Question) CheckAssurance(c Caller) error {
	least := q.leastAssurance(c.Outside)
	if least == "" || c.Assurance.AtLeast(least) {
		return nil
	}
	how := "sign in with a browser and answer there"
	if c.SessionID != "" {
		how = "sign out of this browser and sign in again: your last sign-in was too long ago, or by a link that a token made"
	}
	if least == AssurancePasskey {
		how = "answer in the browser, where your passkey signs the answer"
		if q.Risk == RiskCritical && q.Approvals == nil {
			how += "; or ask for the approval of two people (approvals), each signed in with a browser"
		}
	}
	return Errorf(CodeNotEligible, "the policy asks for more to answer this: you are known by %s, a question of %s risk needs %s",
		c.Assurance, q.Risk, least).WithHint("%s", how)
}

// leastAssurance returns the assurance that a person needs to decide the question. The argument outside means that
// the answer comes over a channel or by a link. An empty result accepts every person who may answer.
func (q *Question) leastAssurance(outside bool) Assurance {
	if q.LeastAssurance == "" && (outside || usualAssurance[q.Risk] != "") {
		return q.leastOutside()
	}
	return q.LeastAssurance
}

// leastOutside returns the assurance that is required where the policy does not say. It applies over a channel and by
// a link, and to high and critical risks everywhere. For a low risk, the link is enough. For a medium risk, the
// person's identity in the channel is enough. A high risk needs a sign-in. A critical risk needs two people or a
// passkey.
func (q *Question) leastOutside() Assurance {
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

// MayDecide returns nil if the caller may answer the question and is signed in
// strongly enough for its risk.
func (q *Question) MayDecide(c Caller) error { return q.mayDecide(c) }

// assigned reports whether the question is for the caller: it names the
// caller's handle, group or role, or it names nobody and so is for all.
func (q *Question) assigned(c Caller) bool {
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
// not be [Question.Decided]: the caller must expire an overdue question first.
func (q *Question) ApplyAnswer(a Answer, c Caller, now time.Time) (AnswerOutcome, error) {
	if q.isClosed() || q.Held != nil {
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
	c = a.knownBy(c)
	if err := q.mayDecide(c); err != nil {
		return 0, err
	}
	a.Action = withoutNull(a.Action)
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
// resolution that it makes.
func (q *Question) resolve(a Answer, c Caller, now time.Time) (Resolution, error) {
	c = a.knownBy(c)
	r, err := q.unsigned(a, c, now)
	if err != nil {
		return r, err
	}
	r.Signed = a.Signed
	return r, q.checkSignature(&a, &r, c, now)
}

// unsigned checks a person's answer without its signature, and returns the
// resolution that it makes.
func (q *Question) unsigned(a Answer, c Caller, now time.Time) (Resolution, error) {
	if err := q.mayDecide(c); err != nil {
		return Resolution{}, err
	}
	a.Action = withoutNull(a.Action)
	answers, err := q.normalize(a)
	if err != nil {
		return Resolution{}, err
	}
	if err := q.checkConsent(a, answers); err != nil {
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

// checkConsent checks that an approval names the action that the person was shown.
func (q *Question) checkConsent(a Answer, answers map[string]any) error {
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
	if !ps.action(a.Action) {
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
	ps.text("comment", a.Comment, 0, MaxAnswerText)
	ps.answeredBy(a.Channel)
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
	strange := false
	for i := range q.Items {
		it := &q.Items[i]
		at := field + it.Key
		if len(q.Items) == 1 {
			at = "answer"
		}
		value, ok := given[it.Key]
		if !ok || value == nil {
			if it.IsRequired() {
				ps.add(at, "is required")
			}
			continue
		}
		v, err := it.Normalize(value)
		if err != nil {
			ps.add(at, "%s", err)
			strange = strange || it.IsStrict()
			continue
		}
		answers[it.Key] = v
	}
	switch {
	case len(ps) == 0:
		return answers, nil
	case strange:
		return nil, Invalid(ps...).WithHint("%s", q.OwnWords())
	default:
		return nil, Invalid(ps...)
	}
}

// answeredBy checks the channel of an answer, because lists and the audit show it.
func (ps *problems) answeredBy(name string) {
	found := len(*ps)
	ps.text("channel", name, 0, 40)
	if found == len(*ps) && strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		ps.add("channel", "must be a name such as web or cli, without spaces")
	}
}

// OwnWords returns the advice for a person whose answer is not one of the options.
func (q *Question) OwnWords() string {
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
		return AnswerRepeats, q.keptComment(a, v.Comment)
	}
	if r.Status == Answered && r.AnsweredBy != nil && same(*r.AnsweredBy, r.Answers) && r.sameEdit(a.Action) {
		return AnswerRepeats, q.keptComment(a, r.Comment)
	}
	for i := range r.Late {
		if !same(r.Late[i].By, r.Late[i].Answers) {
			continue
		}
		if err := q.keptComment(a, r.Late[i].Comment); err != nil {
			return 0, err
		}
		if !a.Restart || r.Late[i].Restarted {
			return AnswerRepeats, nil
		}
		if err := q.checkConsent(a, answers); err != nil {
			return 0, err
		}
		// The answer was stored before, and its author asks for the restart
		// with this repetition.
		r.Late[i].Restarted = true
		return AnswerLate, nil
	}
	if r.Status != TimedOut {
		return 0, q.ClosedError()
	}
	late, err := q.resolve(a, c, now)
	switch {
	case err != nil:
		return 0, err
	case len(r.Late) > 0:
		return 0, q.ClosedError()
	case q.Approvals != nil && q.Approvals.Required > 1 && answers[q.Items[0].Key] == Approve:
		return 0, Errorf(CodePolicyViolation, "%d people had to approve before the deadline, and one alone does not approve after it", q.Approvals.Required).
			WithHint("let it be asked again")
	case len(late.Action) > 0:
		return 0, Invalid(Problem{Field: "action", Message: "an edited action cannot be approved after the deadline: nothing runs by a late answer"})
	}
	r.Late = append(r.Late, Late{By: c.Actor(), At: now, Answers: answers, Comment: a.Comment, Restarted: a.Restart, Signed: late.Signed})
	return AnswerLate, nil
}

// keptComment refuses a repeated answer whose comment was not stored with the first one. A person's comment is never
// dropped without an error.
func (q *Question) keptComment(a Answer, kept string) error {
	if comment := strings.TrimSpace(a.Comment); comment == "" || comment == strings.TrimSpace(kept) {
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
		if len(r.Late) > 0 {
			return fmt.Sprintf("%s answered after the deadline, and that answer was kept; to add something, write a message to the task", r.Late[0].By.DisplayName())
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

// vote counts a person's vote. Several votes of one person count once, on
// whatever channels they came.
func (q *Question) vote(r Resolution, now time.Time) (AnswerOutcome, error) {
	value, _ := r.Answers[q.Items[0].Key].(string)
	voted := slices.IndexFunc(q.Votes, func(v Vote) bool { return v.By.ID == r.AnsweredBy.ID })
	if voted < 0 {
		q.Votes = append(q.Votes, Vote{By: *r.AnsweredBy, Value: value, Comment: r.Comment, Assurance: r.Assurance, At: now, Signed: r.Signed})
	} else if v := q.Votes[voted]; v.Value != value {
		return 0, Errorf(CodeInvalidRequest, "you voted %s at %s, and a vote stands", v.Value, v.At.Format(time.RFC3339)).
			WithHint("cancel and ask again to vote anew")
	} else if err := q.keptComment(Answer{Comment: r.Comment}, v.Comment); err != nil {
		return 0, err
	}
	// A repeated vote makes all votes count again, because a vote that was
	// discounted before may count at this call.
	approvals, rejections := q.count()
	needed := 1
	if q.Approvals.Reject == "majority" {
		needed = q.Approvals.Required/2 + 1
	}
	switch {
	case rejections >= needed:
		r.Answers = map[string]any{q.Items[0].Key: Reject}
	case approvals >= q.Approvals.Required:
		r.Answers = map[string]any{q.Items[0].Key: Approve}
	case voted >= 0:
		return AnswerRepeats, nil
	default:
		return AnswerVotes, nil
	}
	q.close(r)
	return AnswerCloses, nil
}

func (q *Question) count() (approvals, rejections int) {
	for _, v := range q.Votes {
		switch {
		case v.Value != Approve:
			rejections++
		case !q.Discounted[v.By.ID]:
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
