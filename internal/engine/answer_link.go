package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// AnswerLink returns the secret part of an address at which the member answers
// the question without signing in. It is the same for a whole day, so that a
// repeated message has the same link. It returns an error with the reason if a
// link is not enough for the question.
func (e *Engine) AnswerLink(ctx context.Context, workspace, questionID, memberID string) (string, error) {
	r := e.db.Reader(ctx, workspace)
	q, err := r.Question(questionID)
	if err != nil {
		return "", err
	}
	m, err := r.Member(memberID)
	if err != nil {
		return "", err
	}
	if err := e.checkAnswerByLink(r, m, q); err != nil {
		return "", err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return "", err
	}
	l := fermata.AnswerLink{
		Workspace: workspace, QuestionID: q.ID, MemberID: m.ID, ExpiresAt: now.Truncate(24 * time.Hour).Add(fermata.AnswerLinkLifetime),
	}
	key, err := e.linkKey(ctx, r, &l)
	if err != nil {
		return "", err
	}
	return l.Sign(key), nil
}

// linkKeyName is the name of the key that signs the answer links of a workspace. The key signs nothing else, so the key
// of the grants cannot sign a link.
const linkKeyName = "answer links"

// linkKey returns the key that signs links, and sets the generation of the link.
func (e *Engine) linkKey(ctx context.Context, r store.Reader, l *fermata.AnswerLink) ([]byte, error) {
	generation, err := r.AnswerLinkGeneration(l.MemberID)
	if err != nil {
		return nil, err
	}
	l.Generation = generation
	key, err := r.DeliveryKey(linkKeyName)
	if err != nil || key != nil {
		return key, err
	}
	err = e.db.Write(ctx, l.Workspace, func(tx *store.Tx) error {
		key, err = tx.DeliveryKey(linkKeyName, nil)
		return err
	})
	return key, err
}

// CheckAnswerByLink refuses an answer by a link if the question needs more than a link, or the member may not answer it.
func (e *Engine) CheckAnswerByLink(ctx context.Context, workspace string, m *fermata.Member, q *fermata.Question) error {
	return e.checkAnswerByLink(e.db.Reader(ctx, workspace), m, q)
}

// checkAnswerByLink is [Engine.CheckAnswerByLink] with a reader.
func (e *Engine) checkAnswerByLink(r store.Reader, m *fermata.Member, q *fermata.Question) error {
	if m.DisabledAt != nil {
		return fermata.Errorf(fermata.CodeNotEligible, "%s may not answer any more", m.Handle).WithHint("ask an admin")
	}
	policy, err := e.policy(r)
	if err != nil {
		return err
	}
	if err := policy.CheckLink(q); err != nil {
		return err
	}
	if err := q.CheckMayHoldLink(m); err != nil {
		return err
	}
	return q.CheckMayDecide(m.LinkCaller(r.Workspace(), q))
}

// Visit is the data of the page that the holder of a link sees.
type Visit struct {
	Link     fermata.AnswerLink
	Member   *fermata.Member
	Question *fermata.Question
	// TaskTitle is the title of the question's task.
	TaskTitle string
	// Expired reports whether the link has expired.
	Expired bool
	// Refusal is the reason why the question cannot be answered by this link, or nil if it can.
	Refusal error
	// Now is the time by the database's clock.
	Now time.Time

	key []byte
}

// FormToken returns the hidden token of the page's form.
func (v *Visit) FormToken() string { return v.Link.FormToken(v.key, v.Question.ContentHash()) }

// IsOwnForm reports whether a form came from this link's page and showed exactly
// this question.
func (v *Visit) IsOwnForm(form string) bool {
	return v.Link.IsFormToken(form, v.key, v.Question.ContentHash())
}

// ConfirmationToken returns the token for a confirmation of the answer to exactly this question.
func (v *Visit) ConfirmationToken(answer string) string {
	return v.Link.ConfirmationToken(v.key, v.Question.ContentHash(), answer, v.Now)
}

// CheckConfirmation returns an error if a confirmation of an answer is not valid, or not valid yet.
func (v *Visit) CheckConfirmation(token, answer string) error {
	return v.Link.CheckConfirmation(token, v.key, v.Question.ContentHash(), answer, v.Now)
}

// OpenAnswerLink returns the data of the page that the holder of a link sees.
// It changes and records nothing. For a link that this server did not create,
// or that was revoked, the error is [fermata.CodeNotFound].
func (e *Engine) OpenAnswerLink(ctx context.Context, token string) (*Visit, error) {
	l, err := fermata.ReadAnswerLink(token)
	if err != nil {
		return nil, err
	}
	r := e.db.Reader(ctx, l.Workspace)
	// The key is only read: opening a link creates no key.
	key, err := r.DeliveryKey(linkKeyName)
	if err != nil {
		return nil, err
	}
	if l.Generation, err = r.AnswerLinkGeneration(l.MemberID); err != nil {
		return nil, err
	}
	if err := l.CheckSignature(token, key); err != nil {
		return nil, err
	}
	return e.newVisit(ctx, r, l, key)
}

func (e *Engine) newVisit(ctx context.Context, r store.Reader, l fermata.AnswerLink, key []byte) (*Visit, error) {
	m, err := r.Member(l.MemberID)
	if err != nil {
		return nil, err
	}
	// A link does not show a question of a project that is hidden from the member.
	q, err := r.WithVisibleProjects(m.Caller().VisibleProjects()).Question(l.QuestionID)
	if err != nil {
		return nil, err
	}
	t, err := r.Task(q.TaskID)
	if err != nil {
		return nil, err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	return &Visit{
		Link: l, Member: m, Question: q, TaskTitle: t.Title, Expired: !now.Before(l.ExpiresAt), Now: now, key: key,
		Refusal: e.checkAnswerByLink(r, m, q),
	}, nil
}

// AnswerByLink answers the question of a link as the link's member. The rules
// of [Engine.Answer] apply.
func (e *Engine) AnswerByLink(ctx context.Context, token string, a fermata.Answer) (*fermata.Question, error) {
	v, err := e.OpenAnswerLink(ctx, token)
	if err != nil {
		return nil, err
	}
	if v.Refusal != nil {
		return nil, v.Refusal
	}
	if v.Expired {
		return nil, fermata.Errorf(fermata.CodeForbidden, "the link has expired").WithHint("sign in and answer there")
	}
	a.Channel, a.Restart, a.Undo, a.Action = "link", false, false, nil
	return e.Answer(ctx, v.Member.LinkCaller(v.Link.Workspace, v.Question), v.Question.ID, a)
}

// linksRevoked is the value of "answer_links" in member.changed when a person revoked answer links.
const linksRevoked = "revoked"

// RevokeAnswerLinks ends every link by which a member answers without signing
// in. A member may do this for themselves, an admin for anybody. Messages that
// are sent later contain new links.
func (e *Engine) RevokeAnswerLinks(ctx context.Context, c fermata.Caller, handleOrID string) error {
	m, err := e.resolveMember(ctx, c, fermata.ToChangeOwn, handleOrID)
	if err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		tx.RevokeAnswerLinks(m.ID)
		tx.Append(&fermata.Event{
			Type: fermata.EventMemberChanged, Actor: c.Actor(),
			Data: encodeData(map[string]any{"member_id": m.ID, "handle": m.Handle, "answer_links": linksRevoked}),
		})
		return nil
	})
}
