package fermata

import (
	"encoding/json"
	"time"
)

// HeldAnswer is an answer that counts only after some seconds, so that its author can
// take it back. Until then the question is pending, and agents do not see the
// answer. See [Question.Hold].
type HeldAnswer struct {
	By Actor `json:"by"`
	// At is the instant at which the person answered. It becomes the time of
	// the resolution.
	At time.Time `json:"at"`
	// ReleaseAt is the instant at which the answer settles the question.
	ReleaseAt  time.Time       `json:"release_at"`
	Answer     any             `json:"answer,omitempty" doc:"the value, where there is one item"`
	Answers    map[string]any  `json:"answers,omitempty" doc:"the values by item key"`
	Comment    string          `json:"comment,omitempty"`
	Channel    string          `json:"channel,omitempty"`
	Assurance  Assurance       `json:"assurance,omitempty"`
	Action     json.RawMessage `json:"action,omitempty" doc:"the edited action, when it was approved with edits"`
	ActionHash string          `json:"action_hash,omitempty"`
	// Signed is the content that the person's passkey signed. It is nil without
	// a signature.
	Signed *SignedDecision `json:"signed,omitempty"`

	// Salt keeps others from guessing the answer from its [HeldAnswer.ContentHash].
	Salt string `json:"-"`
}

// ContentHash returns the hash by which the event question.held names the answer without disclosing it: the SHA-256
// of the salt, a line break and the answer's JSON, in hex.
func (h *HeldAnswer) ContentHash() string {
	written, err := ExactJSON(h)
	if err != nil {
		return ""
	}
	return hashBytes(append([]byte(h.Salt+"\n"), written...))
}

// Limits of the time for which answers are held.
const (
	// DefaultUndoSeconds is the time for which an answer can be taken back if
	// the policy does not set one.
	DefaultUndoSeconds = 5
	// MaxUndoSeconds is the longest time that a policy may set.
	MaxUndoSeconds = 300
)

// UndoTime returns the time for which an answer to the question may be held. It
// is 0 if the answer may not be held. An answer to a critical question or with
// a passkey signature is deliberate, so it is not held. The votes of several
// people are final, so they are not held either.
func (p Policy) UndoTime(q *Question) time.Duration {
	if q.Risk == RiskCritical || q.MustBeSigned() || q.Approvals != nil && q.Approvals.Required > 1 {
		return 0
	}
	seconds := DefaultUndoSeconds
	if p.UndoSeconds != nil {
		seconds = *p.UndoSeconds
	}
	return time.Duration(seconds) * time.Second
}

// Hold applies an answer that may be taken back. It checks the answer like [Question.ApplyAnswer], but the answer
// settles the question only when [Question.Release] releases it. An answer is never held beyond the deadline. If the
// answer may not be held, Hold applies it at once, like ApplyAnswer.
func (q *Question) Hold(a Answer, c Caller, p Policy, now time.Time) (AnswerOutcome, error) {
	d := p.UndoTime(q)
	if d <= 0 || q.isClosed() || q.HeldAnswer != nil {
		return q.ApplyAnswer(a, c, now)
	}
	r, err := q.resolve(a, c, now)
	if err != nil {
		return 0, err
	}
	release := TruncateTime(now.Add(d))
	if q.Deadline != nil && release.After(*q.Deadline) {
		release = *q.Deadline
	}
	q.HeldAnswer = &HeldAnswer{
		By: c.Actor(), At: now, ReleaseAt: release, Answers: r.Answers, Comment: r.Comment, Channel: r.Channel,
		Assurance: r.Assurance, Action: r.Action, ActionHash: r.ActionHash, Signed: r.Signed,
	}
	if len(q.Items) == 1 {
		q.HeldAnswer.Answer = r.Answers[q.Items[0].Key]
	}
	return AnswerHeld, nil
}

// applyToHeld applies an answer to a question that has a held answer. It
// accepts the same answer again. Any other answer is a conflict, and its error
// names the person who was first.
func (q *Question) applyToHeld(a Answer, answers map[string]any, c Caller) (AnswerOutcome, error) {
	h := q.HeldAnswer
	isAuthor := h.By.ID == c.Actor().ID
	if isAuthor && sameAnswers(h.Answers, answers) && h.resolution().sameEdit(a.Action) && q.checkRepeatedComment(a, h.Comment) == nil {
		return AnswerRepeats, nil
	}
	e := Errorf(CodeQuestionClosed, "the question is %s", h.resolution().Sentence())
	e.Question = q
	if isAuthor {
		return 0, e.WithHint("take your answer back first; that can be done until %s", h.ReleaseAt.Format(time.RFC3339))
	}
	return 0, e.WithHint("it counts from %s on, unless %s takes it back", h.ReleaseAt.Format(time.RFC3339), h.By.Name)
}

// IsReleaseDue reports whether the held answer must settle the question. The release
// instant decides, and not the time of the check.
func (q *Question) IsReleaseDue(now time.Time) bool {
	return q.Status == Pending && q.HeldAnswer != nil && !now.Before(q.HeldAnswer.ReleaseAt)
}

// IsDecided reports whether the held answer or the deadline already decides the
// question, so that the next sweep will settle it.
func (q *Question) IsDecided(now time.Time) bool { return q.IsReleaseDue(now) || q.IsOverdue(now) }

// Release closes the question with the held answer. The question must be
// [Question.IsReleaseDue].
func (q *Question) Release() {
	r := q.HeldAnswer.resolution()
	q.HeldAnswer = nil
	q.close(*r)
}

// resolution returns the resolution with the held answer.
func (h *HeldAnswer) resolution() *Resolution {
	by := h.By
	return &Resolution{
		Status: Answered, DecidedBy: ActorHuman, AnsweredBy: &by, At: h.At, Answer: h.Answer, Answers: h.Answers, Comment: h.Comment,
		Channel: h.Channel, Assurance: h.Assurance, Action: h.Action, ActionHash: h.ActionHash, Signed: h.Signed,
	}
}

// Undo takes the held answer back. Only the author of the answer may do so, and
// only until it is released.
func (q *Question) Undo(c Caller) error {
	switch {
	case c.Kind != ActorHuman:
		return Errorf(CodeNotEligible, "only people take answers back; this token is an agent's")
	case !c.RoleIn(q.Project).AtLeast(RoleResponder):
		return Errorf(CodeNotEligible, "the role %s may not answer in the project %s", c.RoleIn(q.Project), q.Project)
	case !c.HasScope(ScopeAnswer):
		return c.missingScopeError(ScopeAnswer)
	case q.isClosed():
		return q.ClosedError()
	case q.HeldAnswer == nil:
		return Errorf(CodeIllegalTransition, "the question holds no answer that could be taken back").
			WithHint("an answer can be taken back when it was given with undo, for some seconds")
	case q.HeldAnswer.By.ID != c.Actor().ID:
		return Errorf(CodeNotEligible, "only %s may take this answer back", q.HeldAnswer.By.Name)
	}
	q.HeldAnswer = nil
	return nil
}

// ViewFor returns the question as the caller may see it. An agent sees an
// answer only when the answer counts, and not while its author may take it
// back.
func (q *Question) ViewFor(c Caller) *Question {
	if q == nil || c.Kind == ActorHuman {
		return q
	}
	seen := *q
	seen.HeldAnswer, seen.Resolution = nil, q.Resolution.viewForAgents()
	return &seen
}

// CommentedVotes returns the votes with a comment, except the vote that closed the question: its comment is in the resolution.
func (q *Question) CommentedVotes() []Vote {
	var remarks []Vote
	for _, v := range q.Votes {
		closed := q.Resolution != nil && q.Resolution.AnsweredBy != nil && *q.Resolution.AnsweredBy == v.By
		if v.Comment != "" && !closed {
			remarks = append(remarks, v)
		}
	}
	return remarks
}

// viewForAgents returns the resolution without OvertakenAnswer, because that answer did not count.
func (r *Resolution) viewForAgents() *Resolution {
	if r == nil || r.OvertakenAnswer == nil {
		return r
	}
	seen := *r
	seen.OvertakenAnswer = nil
	return &seen
}
