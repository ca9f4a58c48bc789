package fermata

import (
	"slices"
	"time"
)

// vote counts a person's vote. Each person has one vote, even if the person
// votes over several channels.
func (q *Question) vote(r Resolution, now time.Time) (AnswerOutcome, error) {
	value, _ := r.Answers[q.Items[0].Key].(string)
	voteIndex := slices.IndexFunc(q.Votes, func(v Vote) bool { return v.By.ID == r.AnsweredBy.ID })
	if voteIndex < 0 {
		q.Votes = append(q.Votes, Vote{By: *r.AnsweredBy, Value: value, Comment: r.Comment, Assurance: r.Assurance, At: now, Signed: r.Signed})
	} else if v := q.Votes[voteIndex]; v.Value != value {
		return 0, Errorf(CodeInvalidRequest, "you voted %s at %s, and a vote cannot be changed", v.Value, v.At.Format(time.RFC3339)).
			WithHint("cancel and ask again for a new vote")
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

// AwaitsAnswerOf reports whether the question waits for an answer of the caller: the caller may answer it, and has not
// voted on it. If as many as needed have approved and the question is still open, a vote of one of them did not count
// when it was given. The question then waits for everybody: any further vote, also a repeated one, counts all votes again.
func (q *Question) AwaitsAnswerOf(c Caller) bool {
	return q.CheckMayAnswer(c) == nil && (q.voteOf(c) == nil || q.hasEnoughApprovals())
}

// hasEnoughApprovals reports whether as many as needed have voted to approve, also if some of the votes do not count.
func (q *Question) hasEnoughApprovals() bool {
	if q.Approvals == nil {
		return false
	}
	missing := q.Approvals.Required
	for _, v := range q.Votes {
		if v.Value == Approve {
			missing--
		}
	}
	return missing <= 0
}

// voteOf returns the caller's vote, or nil if there is none.
func (q *Question) voteOf(c Caller) *Vote {
	for i := range q.Votes {
		if c.MemberID != "" && q.Votes[i].By.ID == c.MemberID {
			return &q.Votes[i]
		}
	}
	return nil
}
